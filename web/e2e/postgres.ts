// The PostgreSQL that `scripts/with-postgres` has started: a database of its own for a file of tests, with seed 003's tables
// and a role that may only read them.

import { connect } from "node:net";

function theirs(): URL {
  const found = process.env.TOOLCRIB_TEST_POSTGRES;
  if (!found) throw new Error("TOOLCRIB_TEST_POSTGRES names no PostgreSQL: run `make e2e`");
  return new URL(found);
}

function message(kind: string, body: string): Buffer {
  const text = Buffer.from(`${body}\0`);
  const head = Buffer.alloc(4);
  head.writeInt32BE(text.length + 4);
  return Buffer.concat([Buffer.from(kind, "latin1"), head, text]);
}

/** Runs statements, without a password. Enough of the protocol for that: say who we are, ask, read until it is ready again. */
function run(database: URL, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(database.port), database.hostname);
    let unread = Buffer.alloc(0);
    let wasAsked = false;
    const hear = (kind: string, body: Buffer) => {
      if (kind === "E") {
        socket.destroy();
        return reject(new Error(body.toString().replaceAll("\0", " ")));
      }
      if (kind !== "Z") return;
      if (wasAsked) {
        socket.end();
        return resolve();
      }
      wasAsked = true;
      socket.write(message("Q", sql));
    };
    socket.on("error", reject);
    socket.on("connect", () => {
      const version = "\0\x03\0\0";
      const names = ["user", database.username, "database", database.pathname.slice(1), ""].join("\0");
      socket.write(message("", version + names));
    });
    socket.on("data", (bytes) => {
      unread = Buffer.concat([unread, bytes]);
      while (unread.length >= 5 && unread.length > unread.readInt32BE(1)) {
        const end = unread.readInt32BE(1) + 1;
        hear(String.fromCharCode(unread[0]!), unread.subarray(5, end));
        unread = unread.subarray(end);
      }
    });
  });
}

const TABLES = `
  CREATE TABLE h_user (uid integer PRIMARY KEY, user_nm text NOT NULL);
  CREATE TABLE h_mcp_tool_limit (target_type text NOT NULL, target_id integer NOT NULL, max_count integer NOT NULL);
  INSERT INTO h_user VALUES (1, 'hong'), (2, 'kim');
  INSERT INTO h_mcp_tool_limit VALUES ('USER', 1, 50), ('USER', 2, 7), ('TOOL', 1, 999);
`;

/** The address of a new database with the tables of seed 003, for somebody who may read them. */
export const seeded = (): Promise<string> => withTables(TABLES);

/** The same with as many tables as asked for, of a few columns each, in two schemas. */
export async function crowded(count: number): Promise<string> {
  const subjects = ["invoice", "shipment", "ticket", "sensor", "survey", "expense", "meeting", "order"];
  const tables = Array.from({ length: count }, (_, at) => {
    const subject = subjects[at % subjects.length];
    const schema = at % 10 === 9 ? "archive" : "public";
    const columns = `${subject}_id integer PRIMARY KEY, title text, amount numeric, owner_id integer, created_at timestamptz`;
    return `CREATE TABLE ${schema}.${subject}_${String(at).padStart(4, "0")} (${columns});`;
  });
  return withTables(`CREATE SCHEMA archive; ${tables.join("\n")}`, "public, archive");
}

async function withTables(tables: string, schemas = "public"): Promise<string> {
  const name = `e2e_${process.pid}_${Date.now()}`;
  const server = theirs();
  await run(server, `CREATE DATABASE ${name}`);
  await run(server, `CREATE ROLE ${name} LOGIN`);
  const own = new URL(server);
  own.pathname = `/${name}`;
  await run(
    own,
    `${tables} GRANT USAGE ON SCHEMA ${schemas} TO ${name}; GRANT SELECT ON ALL TABLES IN SCHEMA ${schemas} TO ${name};`,
  );
  own.username = name;
  return own.href;
}
