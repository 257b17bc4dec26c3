//! A skill: how to go about a kind of work, in Markdown, with its name, what it is for and the tools it needs in front. A
//! model is shown names and descriptions, and loads the instructions of the one that it needs.

mod front;

use catalog::problem::Problem;
use catalog::tool::is_valid_name;
use front::{Front, front};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a model loads a skill with.
pub const LOAD_SKILL: &str = "load_skill";

/// In characters.
pub const DESCRIPTION_MAX: usize = 1_024;
pub const INSTRUCTIONS_MAX: usize = 50_000;
const TOOLS_MAX: usize = 50;

/// Instructions for a kind of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    /// When it is of use.
    pub description: String,
    /// The tools that it speaks of.
    pub tools: Vec<String>,
    pub instructions: String,
}

impl Skill {
    /// Reads a file of this name; tells all that is wrong with it.
    pub fn parse(file: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let mut front = front(file, text)?;
        front.nearly(&["name", "description", "tools"]);
        let name = name(&mut front);
        let description = description(&mut front);
        let tools = tools(&mut front);
        let instructions = instructions(&mut front);
        match (name, description, instructions) {
            (Some(name), Some(description), Some(instructions)) if front.problems.is_empty() => {
                Ok(Skill {
                    name,
                    description,
                    tools,
                    instructions,
                })
            }
            _ => Err(front.problems),
        }
    }
}

fn name(front: &mut Front<'_>) -> Option<String> {
    let remedy = "Write `name: expense-report` between the two lines of ---";
    let given = front.text("name", "the name of the skill", remedy)?;
    if is_valid_name(&given.text) {
        return Some(given.text);
    }
    let expected = "1 to 64 letters, digits, _ . and -";
    front.wrong(
        given.line,
        "name",
        expected,
        &given.text,
        "Give it a name without spaces",
    );
    None
}

fn description(front: &mut Front<'_>) -> Option<String> {
    let remedy = "Say in a sentence what the skill is for: it is chosen by that";
    let given = front.text("description", "what the skill is for", remedy)?;
    let count = given.text.chars().count();
    if count > DESCRIPTION_MAX {
        let expected = format!("at most {DESCRIPTION_MAX} characters");
        let found = format!("{count}");
        front.wrong(
            given.line,
            "description",
            &expected,
            &found,
            "Move the rest into the instructions",
        );
        return None;
    }
    Some(given.text)
}

fn tools(front: &mut Front<'_>) -> Vec<String> {
    let mut tools: Vec<String> = Vec::new();
    for given in front.list("tools") {
        if !is_valid_name(&given.text) {
            let expected = "the name of a tool: letters, digits, _ . and -";
            front.wrong(
                given.line,
                "tools",
                expected,
                &given.text,
                "Write a list such as `tools: [calculator]`",
            );
        } else if !tools.contains(&given.text) {
            tools.push(given.text);
        }
        if tools.len() > TOOLS_MAX {
            let expected = format!("at most {TOOLS_MAX} tools");
            front.wrong(
                given.line,
                "tools",
                &expected,
                "more",
                "Make two skills of it",
            );
            break;
        }
    }
    tools
}

fn instructions(front: &mut Front<'_>) -> Option<String> {
    let body = front.body.trim();
    let count = body.chars().count();
    let line = front.body_line;
    if body.is_empty() {
        let remedy = "Write below the second --- how the work is done, step by step";
        front.wrong(
            line,
            "instructions",
            "instructions in Markdown",
            "nothing",
            remedy,
        );
        return None;
    }
    if count > INSTRUCTIONS_MAX {
        let expected = format!("at most {INSTRUCTIONS_MAX} characters");
        let remedy = "Make several skills of it: a model has to read all of what it loads";
        front.wrong(line, "instructions", &expected, &count.to_string(), remedy);
        return None;
    }
    Some(body.to_owned())
}

/// What a model is told of a skill before it loads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    pub name: String,
    pub description: String,
}

/// What a model is told of the skills there are: names and descriptions only.
#[must_use]
pub fn listing(skills: &[Offered]) -> String {
    let mut text = format!(
        "Skills are instructions for kinds of work. If one of these fits the request, load it with `{LOAD_SKILL}` before you begin, and follow it:"
    );
    for it in skills {
        let description: Vec<&str> = it.description.split_whitespace().collect();
        text.push_str(&format!("\n- {}: {}", it.name, description.join(" ")));
    }
    text
}

/// The schema of what `load_skill` takes, where there are these skills.
#[must_use]
pub fn load_schema(skills: &[Offered]) -> Value {
    let names: Vec<&str> = skills.iter().map(|it| it.name.as_str()).collect();
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "enum": names, "description": "Which skill"},
            "file": {"type": "string", "description": "A file that its instructions name, in place of the instructions"}
        },
        "required": ["name"],
        "additionalProperties": false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let problems = Skill::parse("skills/x.md", text).unwrap_err();
        problems.iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_skill_is_read() {
        let text = "---\nname: weekly-limit\ndescription: \"Works out: a weekly limit\"\ntools: [get_user_daily_limit, files.read]\nlicense: MIT\nmetadata:\n  author: me\n---\n\n# Steps\n1. Look it up.\n";
        let skill = Skill::parse("skills/weekly/SKILL.md", text).unwrap();
        assert_eq!(skill.name, "weekly-limit");
        assert_eq!(skill.description, "Works out: a weekly limit");
        assert_eq!(skill.tools, ["get_user_daily_limit", "files.read"]);
        assert_eq!(skill.instructions, "# Steps\n1. Look it up.");
    }

    #[test]
    fn front_matter_is_written_in_several_ways() {
        for tools in [
            "tools: a, b",
            "tools:\n  - a\n  - 'b'  # why",
            "tools:\n- a\n- b",
            "tools: [\"a\", b]",
        ] {
            let text = format!(
                "\u{feff}---\r\nname: x\n# a remark\n\n{tools}\ndescription: >\n  two\n  lines\n---\nbody --- here\n---\nmore"
            );
            let skill = Skill::parse("f", &text).unwrap();
            assert_eq!(skill.tools, ["a", "b"], "{tools}");
            assert_eq!(skill.description, "two lines");
            assert_eq!(skill.instructions, "body --- here\n---\nmore");
        }
        let plain =
            Skill::parse("f", "---\nname: x\ndescription: one\n  and more\n---\nb").unwrap();
        assert_eq!(
            (plain.description.as_str(), plain.tools.len()),
            ("one and more", 0)
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, says) in [
            (
                "# Title\n",
                "skills/x.md:1:1: at front matter: expected ---",
            ),
            (
                "---\nname: x\n",
                "skills/x.md:2:1: at front matter: expected a second line of ---",
            ),
            (
                "---\ndescription: d\n---\nb",
                "at name: expected the name of the skill, found nothing",
            ),
            (
                "---\nname: x\n---\nb",
                "at description: expected what the skill is for, found nothing",
            ),
            (
                "---\nname: a b\ndescription: d\n---\nb",
                "skills/x.md:2:1: at name: expected 1 to 64 letters",
            ),
            (
                "---\nname: x\ndescription: d\n---\n \n",
                "skills/x.md:5:1: at instructions: expected instructions",
            ),
            (
                "---\nname: x\nname: y\ndescription: d\n---\nb",
                "skills/x.md:3:1: at name: expected it once",
            ),
            (
                "---\nname: x\ndescription: d\nsome text\n---\nb",
                "skills/x.md:4:1: at front matter: expected `key: value`",
            ),
            (
                "---\nname: x\ndescription: d\ntools:\n  - a b\n---\nb",
                "skills/x.md:5:1: at tools: expected the name of a tool",
            ),
            (
                "---\nname: x\ndescription: \"d\n---\nb",
                "skills/x.md:3:1: at description: expected a closing \"",
            ),
            (
                "---\nname: x\ndescription: d\nTool: [a]\n---\nb",
                "skills/x.md:4:1: at Tool: expected the key `tools`",
            ),
            (
                "---\nname: x\ndescription: d\ntools: [a\n---\nb",
                "skills/x.md:4:1: at tools: expected a closing ]",
            ),
        ] {
            let all = problems(text);
            assert!(all[0].contains(says), "{text:?}: {all:?}");
        }
        assert_eq!(problems("---\n---\n").len(), 3);
        let long = format!("---\nname: x\ndescription: {}\n---\nb", "d".repeat(2_000));
        assert!(problems(&long)[0].contains("at most 1024 characters, found 2000"));
    }

    #[test]
    fn a_model_is_told_names_and_descriptions() {
        let offered = |name: &str, description: &str| Offered {
            name: name.to_owned(),
            description: description.to_owned(),
        };
        let text = listing(&[offered("a", "Does\n  a."), offered("b", "Does b.")]);
        assert!(text.ends_with("\n- a: Does a.\n- b: Does b."));
        assert_eq!(
            load_schema(&[offered("a", "x")])["properties"]["name"]["enum"],
            json!(["a"])
        );
    }
}
