//! A workspace with as many tools as asked for, of the size that people write.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::Failure;

/// What the tools are said to be about; descriptions differ so that nothing can be shared between them.
const SUBJECTS: [&str; 10] = [
    "invoices",
    "shipments",
    "purchase orders",
    "meeting minutes",
    "sensor readings",
    "support tickets",
    "inventory counts",
    "travel expenses",
    "test results",
    "customer surveys",
];
const REGIONS: [&str; 7] = [
    "Seoul", "Busan", "Gwangju", "Incheon", "Daegu", "Ulsan", "Jeju",
];

#[derive(Args)]
pub(crate) struct MakeToolsArgs {
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    count: u32,
    /// Folder to write tools.json and mcp.json into; made if missing
    #[arg(long)]
    out: PathBuf,
}

pub(crate) fn run(args: &MakeToolsArgs) -> Result<(), Failure> {
    let tools: Vec<Value> = (0..args.count).map(tool).collect();
    let files = [
        ("tools.json", json!({"version": 1, "tools": tools})),
        ("mcp.json", json!({"mcpServers": {}})),
    ];
    std::fs::create_dir_all(&args.out)
        .map_err(|e| format!("cannot make {}: {e}", args.out.display()))?;
    for (name, content) in files {
        let path = args.out.join(name);
        std::fs::write(&path, format!("{content:#}\n"))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    crate::print_line(&json!({"tools": args.count, "out": args.out}).to_string())
}

/// Tool number `n`, named `bench_n`; every second one is a calculator, the others clean a text.
fn tool(n: u32) -> Value {
    let subject = SUBJECTS[n as usize % SUBJECTS.len()];
    let region = REGIONS[n as usize % REGIONS.len()];
    let name = format!("bench_{n}");
    if n.is_multiple_of(2) {
        json!({
            "name": name,
            "description": format!("Calculates totals, averages and differences over {subject} of the {region} branch, series {n}. \
                Takes one arithmetic expression with units and answers its value; use it when a request asks for a figure, not for a list."),
            "kind": "builtin",
            "config": {"name": "calculator"},
            "input_schema": {
                "type": "object",
                "properties": {
                    "expression": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 1000,
                        "description": format!("Arithmetic over {subject}, for example (1250 + 990) * 1.1 or 3 km in miles"),
                    },
                },
                "required": ["expression"],
                "additionalProperties": false,
            },
            "parallel_capable": true,
        })
    } else {
        json!({
            "name": name,
            "description": format!("Prepares text from {subject} of the {region} branch, series {n}, for one cell of a spreadsheet: \
                replaces non-breaking spaces, so that columns can be searched and compared. Use it before writing text into a table."),
            "kind": "builtin",
            "config": {"name": "serialize_for_cell"},
            "input_schema": {
                "type": "object",
                "properties": {
                    "data": {
                        "type": "string",
                        "maxLength": 100_000,
                        "description": format!("Text of one field of {subject}, as it came from the source system"),
                    },
                },
                "required": ["data"],
                "additionalProperties": false,
            },
            "output_schema": {"type": "string"},
            "parallel_capable": true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_differ_and_have_a_realistic_size() {
        for n in [0, 1, 999, 9_999] {
            let size = tool(n).to_string().len();
            assert!((500..900).contains(&size), "tool {n} has {size} bytes");
        }
        assert_ne!(tool(2)["name"], tool(3)["name"]);
        assert_ne!(tool(0)["description"], tool(70)["description"]);
    }
}
