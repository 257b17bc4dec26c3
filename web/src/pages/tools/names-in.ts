// The names that a formula reads.

// Words of the language and what expressions have of their own; whatever else stands alone is likely an argument.
const OWN = new Set(
  `and as assert break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not
   or pass raise return True try while with yield result args abs all any bool dict divmod enumerate filter float int isinstance len
   list map max min pow print range repr reversed round set sorted str sum tuple type zip math datetime date timedelta json re
   statistics random string base64 hashlib decimal Decimal time itertools collections functools`.split(/\s+/),
);

/** Names that a formula reads and nobody has declared or assigned. */
export function namesIn(source: string): string[] {
  const bare = source.replace(/#[^\n]*|'''[\s\S]*?'''|"""[\s\S]*?"""|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, " ");
  const assigned = new Set(
    [
      ...bare.matchAll(
        /([\p{L}_][\p{L}\p{N}_]*)\s*(?::=|[-+*/%]?=(?!=))|\bfor\s+([\p{L}\p{N}_\s,]+?)\s+in\b|\b(?:def|class|lambda|import|as)\s+([\p{L}\p{N}_\s,]+)/gu,
      ),
    ].flatMap((match) => (match[1] ?? match[2] ?? match[3] ?? "").split(/[\s,]+/)),
  );
  const read = [...bare.matchAll(/(?<![\p{L}\p{N}_.])([\p{L}_][\p{L}\p{N}_]*)(?!\s*\(|[\p{L}\p{N}_])/gu)].map(
    (match) => match[1]!,
  );
  return [...new Set(read)].filter((name) => !OWN.has(name) && !assigned.has(name));
}
