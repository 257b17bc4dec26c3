//! Skills: instructions for kinds of work, from a folder of Markdown in the workspace. A file that cannot be read keeps nobody
//! from the others; what is wrong with it is in the status.

mod folder;

pub(crate) use folder::Skills;
pub use folder::{Shelf, Shelved};

use crate::App;
use crate::agents::not_there;
use crate::error::{Error, Result};
use crate::runs::Bounds;
use crate::status::ShelfStatus;
use agent::skill::Offered;
use catalog::caller::{Caller, Scope};
use catalog::problem::Problem;
use selection::Item;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// A skill as it is shown.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SkillView {
    pub name: String,
    /// When it is of use.
    pub description: String,
    /// The tools that it speaks of.
    pub tools: Vec<String>,
    /// Those of them that are not there, or that the caller may not call; left out where it is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_missing: Vec<String>,
    /// Where it stands, in the folder of skills.
    pub file: String,
    /// Markdown; only where one skill is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SkillPage {
    pub items: Vec<SkillView>,
    pub next_cursor: Option<String>,
    /// What is wrong with files that could not be read, each with file, line, what was expected and how to mend it; left
    /// out where it is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub problems: Vec<Problem>,
}

/// The names that an agent's `config.skills` holds.
pub(crate) fn named(skills: Option<&Value>) -> Vec<String> {
    let names = skills.and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

impl App {
    /// The skills as they are on disk right now.
    pub async fn skills(&self) -> Result<Arc<Shelved>> {
        let skills = Arc::clone(&self.skills);
        let read = tokio::task::spawn_blocking(move || skills.read()).await;
        let shelved =
            read.map_err(|error| Error::Internal(format!("skills were not read: {error}")))?;
        if self.status.load().skills_problems != shelved.problems {
            for problem in &shelved.problems {
                tracing::warn!("a skill cannot be used: {problem}");
            }
            ShelfStatus::update(&self.status, |status| {
                status.skills_problems.clone_from(&shelved.problems);
            });
        }
        Ok(shelved)
    }

    /// Whether the skills that an agent names are in the folder. Those that it named before are kept, whatever became of
    /// them: a file that cannot be read for now keeps nobody from changing something else.
    pub(crate) async fn check_skills(
        &self,
        names: Option<&Value>,
        had: Option<&Value>,
    ) -> Result<()> {
        let (mut names, had) = (named(names), named(had));
        names.retain(|it| !had.contains(it));
        if names.is_empty() {
            return Ok(());
        }
        let shelved = self.skills().await?;
        let known = shelved.skills.iter().map(|it| it.skill.name.as_str());
        let known: Vec<&str> = known.collect();
        let unknown = names.iter().filter(|it| !known.contains(&it.as_str()));
        let unknown: Vec<&String> = unknown.collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let unknown = not_there(&unknown, &known);
        Err(Error::invalid(format!(
            "config.skills: there is no skill {unknown}; `toolcrib skills list` shows those that there are, and what is wrong with others"
        )))
    }

    pub async fn list_skills(&self, caller: &Caller) -> Result<SkillPage> {
        let shelved = self.skills().await?;
        Ok(SkillPage {
            items: shelved
                .skills
                .iter()
                .filter_map(|it| self.skill_view(caller, it))
                .collect(),
            next_cursor: None,
            problems: shelved.problems.clone(),
        })
    }

    pub async fn get_skill(&self, caller: &Caller, name: &str) -> Result<SkillView> {
        let shelved = self.skills().await?;
        let found = shelved.skills.iter().find(|it| it.skill.name == name);
        let shown = found.and_then(|it| Some((it, self.skill_view(caller, it)?)));
        let (found, view) = shown.ok_or_else(|| Error::NotFound {
            what: "Skill",
            name: name.to_owned(),
        })?;
        Ok(SkillView {
            instructions: Some(found.skill.instructions.clone()),
            ..view
        })
    }

    /// A text beside a skill, by its path in the folder of that skill.
    pub(crate) async fn file_of_skill(
        &self,
        shelved: &Arc<Shelved>,
        name: &str,
        file: &str,
    ) -> Result<String> {
        let (skills, shelved) = (Arc::clone(&self.skills), Arc::clone(shelved));
        let (name, file) = (name.to_owned(), file.to_owned());
        let read = move || {
            let found = shelved.skills.iter().find(|it| it.skill.name == name);
            found.map(|it| skills.beside(it, &file))
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(Some(Ok(text))) => Ok(text),
            Ok(Some(Err(error))) => Err(Error::invalid(error.to_string())),
            Ok(None) | Err(_) => Err(Error::Internal("a file was not read".to_owned())),
        }
    }

    /// Of these skills those that fit a request best, by what they say of themselves; in the order that they had.
    pub(crate) async fn skills_that_fit(
        self: &Arc<Self>,
        skills: Vec<Offered>,
        request: &str,
        most: usize,
    ) -> Result<Vec<Offered>> {
        let choice = self.choice().await?;
        let (app, request) = (Arc::clone(self), request.to_owned());
        let choose = move || {
            let item = |it: &Offered| Item {
                name: it.name.clone(),
                description: it.description.clone(),
                ..Item::default()
            };
            let items: Vec<Item> = skills.iter().map(item).collect();
            let corpus = app.chooser.apart(&choice, &items);
            let found = corpus.select(&request, |_| true, most).candidates;
            let mut places: Vec<usize> = found.into_iter().map(|it| it.at).collect();
            places.sort_unstable();
            places.into_iter().map(|at| skills[at].clone()).collect()
        };
        let chosen = tokio::task::spawn_blocking(choose).await;
        chosen.map_err(|error| Error::Internal(format!("a choice of skills was lost: {error}")))
    }

    /// None for those who may call none of the tools that it needs: it would tell them of work that they cannot do.
    fn skill_view(&self, caller: &Caller, it: &Shelf) -> Option<SkillView> {
        // Who may only look is told what they would need.
        let caller = &Caller {
            scopes: caller.scopes.with(Scope::Call),
            ..caller.clone()
        };
        let (_, missing) = self.tools_of_skill(caller, &Bounds::default(), &it.skill);
        let tools = it.skill.tools.clone();
        let is_of_use = tools.is_empty() || missing.len() < tools.len();
        (is_of_use || caller.scopes.allow(Scope::Admin)).then(|| SkillView {
            name: it.skill.name.clone(),
            description: it.skill.description.clone(),
            tools_missing: missing,
            tools,
            file: it.file.clone(),
            instructions: None,
        })
    }
}
