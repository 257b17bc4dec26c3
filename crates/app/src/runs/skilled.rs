//! Skills in a run: which its model is told of, and what it gets where it loads one.

use super::driver::Driver;
use super::offered::Bounds;
use super::own::{Led, Refusal};
use crate::App;
use crate::error::Result;
use crate::skills::{Shelf, named};
use agent::entry::Entry;
use agent::skill::{Offered, listing};
use catalog::caller::Caller;
use std::sync::Arc;

/// Of more, a model is told of those that fit the request.
const SKILLS_SHOWN: usize = 20;

impl Driver {
    /// Chooses the skills that the model is told of, once. Files that cannot be used are left out.
    pub(crate) async fn plan_skills(&mut self) -> Result<()> {
        let app = Arc::clone(&self.journal.app);
        let shelved = app.skills().await?;
        let bounds = self.bounds();
        let named = self.skills_named();
        let is_gone = |name: &&String| !shelved.skills.iter().any(|it| it.skill.name == **name);
        let missing: Vec<&String> = named.iter().flatten().filter(is_gone).collect();
        for name in missing {
            let message = format!("There is no skill '{name}', which the agent names");
            self.journal.note("skill_missing", message);
        }
        let is_usable = |it: &&Shelf| {
            let is_named = named
                .as_ref()
                .is_none_or(|all| all.contains(&it.skill.name));
            let (usable, missing) = app.tools_of_skill(&self.caller, &bounds, &it.skill);
            is_named && (!usable.is_empty() || missing.is_empty())
        };
        let offered = shelved.skills.iter().filter(is_usable).map(|it| Offered {
            name: it.skill.name.clone(),
            description: it.skill.description.clone(),
        });
        let mut skills: Vec<Offered> = offered.collect();
        if skills.len() > SKILLS_SHOWN {
            let request = self.request();
            skills = app.skills_that_fit(skills, &request, SKILLS_SHOWN).await?;
        }
        if !skills.is_empty() {
            self.journal.add(Entry::Skills { skills });
        }
        Ok(())
    }

    /// Those that the agent names; none where it may use all.
    fn skills_named(&self) -> Option<Vec<String>> {
        let agent = self.agent()?;
        agent.config.0.get("skills").map(|it| named(Some(it)))
    }

    /// What the model is told of itself: what its agent says, and which skills there are.
    pub(crate) fn system(&self, own: Option<&String>) -> Option<String> {
        let skills = &self.journal.state.skills;
        let listed = (!skills.is_empty()).then(|| listing(skills));
        let parts: Vec<String> = own.cloned().into_iter().chain(listed).collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }
}

impl App {
    /// The instructions of a skill as they are now, or a file beside them.
    pub(crate) async fn load_skill(
        self: &Arc<Self>,
        caller: &Caller,
        bounds: &Bounds,
        offered: &[Offered],
        name: &str,
        file: Option<&str>,
    ) -> std::result::Result<Led, Refusal> {
        let refused = |why: String| Refusal {
            code: "skill_not_found".to_owned(),
            why,
        };
        if !offered.iter().any(|it| it.name == name) {
            let names: Vec<&str> = offered.iter().map(|it| it.name.as_str()).collect();
            let names = names.join(", ");
            return Err(refused(format!(
                "There is no skill '{name}'. The skills are: {names}"
            )));
        }
        let shelved = self.skills().await;
        let shelved = shelved.map_err(|error| refused(error.to_string()))?;
        let found = shelved.skills.iter().find(|it| it.skill.name == name);
        let found = found.ok_or_else(|| {
            refused(format!(
                "The skill '{name}' was removed, or cannot be read now"
            ))
        })?;
        if let Some(file) = file {
            let read = self.file_of_skill(&shelved, name, file).await;
            return read
                .map(Led::text)
                .map_err(|error| refused(format!("'{file}' of the skill '{name}': {error}")));
        }
        let (usable, missing) = self.tools_of_skill(caller, bounds, &found.skill);
        Ok(Led {
            text: instructions(&usable, &missing, &found.skill.instructions),
            found: usable,
            because: format!("the skill '{name}' was loaded"),
        })
    }
}

/// What can be called comes first: a text that is cut loses its end.
fn instructions(usable: &[String], missing: &[String], text: &str) -> String {
    let mut lines = Vec::new();
    if !usable.is_empty() {
        lines.push(format!("[You can call: {}]", usable.join(", ")));
    }
    if !missing.is_empty() {
        lines.push(format!("[You cannot call: {}]", missing.join(", ")));
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.push(text.to_owned());
    lines.join("\n")
}
