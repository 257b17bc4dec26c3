//! A store of vectors in this process, for those who run no ChromaDB: exact, and the same to ask. Each collection is
//! one file in a folder that belongs to this process, and is read into memory when it is first asked for.

mod collection;
mod distance;
mod file;
mod nearest;

use crate::Result;
use crate::error::Error;
use crate::record::{Collection, Counted, Found, Get, Hit, Query, Record, Space, check_name};
use collection::Loaded;
pub(crate) use file::ENDING;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How much may be kept.
#[derive(Debug, Clone)]
pub struct Limits {
    /// In one collection.
    pub vectors_max: usize,
    pub dimensions_max: usize,
    /// Of all collections together, on the disk and nearly so in memory.
    pub bytes_max: u64,
    pub collections_max: usize,
}

/// The store. Copies of it are the same store.
#[derive(Clone)]
pub struct Embedded(Arc<Folder>);

struct Folder {
    path: PathBuf,
    limits: Limits,
    /// Held for a moment only.
    loaded: Mutex<HashMap<String, Arc<Loaded>>>,
    /// Held while a file is read or written: one at a time, so that each builds on the one before.
    changing: Mutex<()>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            vectors_max: 200_000,
            dimensions_max: 8_192,
            bytes_max: 1 << 30,
            collections_max: 100,
        }
    }
}

impl Embedded {
    /// The store in a folder, which is made when the first collection is. Reads nothing yet.
    pub fn open(folder: impl Into<PathBuf>, limits: Limits) -> Result<Self> {
        let path = folder.into();
        file::sweep(&path)?;
        Ok(Embedded(Arc::new(Folder {
            path,
            limits,
            loaded: Mutex::default(),
            changing: Mutex::default(),
        })))
    }

    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Makes a collection, unless there is one of this name; that one must measure in the same way.
    pub async fn create(&self, name: &str, space: Space, deadline: Instant) -> Result<()> {
        let name = name.to_owned();
        self.off("Making a collection", deadline, move |folder| {
            folder.create(&name, space)
        })
        .await
    }

    pub async fn delete(&self, name: &str, deadline: Instant) -> Result<()> {
        let name = name.to_owned();
        self.off("Deleting a collection", deadline, move |folder| {
            folder.delete(&name)
        })
        .await
    }

    /// All that can be read.
    pub async fn collections(&self, deadline: Instant) -> Result<Vec<Collection>> {
        let all = self.counted(deadline).await?.into_iter();
        let collection = |it: Counted| {
            Some(Collection {
                name: it.name,
                space: it.space?,
                dimension: it.dimension,
            })
        };
        Ok(all.filter_map(collection).collect())
    }

    /// Each with how many records it holds.
    pub async fn counted(&self, deadline: Instant) -> Result<Vec<Counted>> {
        self.off("Listing the collections", deadline, Folder::list)
            .await
    }

    pub async fn collection(&self, name: &str, deadline: Instant) -> Result<Collection> {
        let name = name.to_owned();
        self.off("Reading a collection", deadline, move |folder| {
            let current = folder.current(&name)?;
            Ok(told(name, current.space, current.dimension))
        })
        .await
    }

    /// Stores all of the records or, where one cannot be, none.
    pub async fn upsert(&self, name: &str, records: Vec<Record>, deadline: Instant) -> Result<()> {
        let name = name.to_owned();
        self.off("Storing vectors", deadline, move |folder| {
            folder.upsert(&name, records)
        })
        .await
    }

    /// Takes away all of the records that are there.
    pub async fn remove(&self, name: &str, ids: Vec<String>, deadline: Instant) -> Result<()> {
        let name = name.to_owned();
        self.off("Removing vectors", deadline, move |folder| {
            folder.remove(&name, &ids)
        })
        .await
    }

    pub async fn query(
        &self,
        name: &str,
        query: Query,
        deadline: Instant,
    ) -> Result<Vec<Vec<Hit>>> {
        let name = name.to_owned();
        self.off("The search", deadline, move |folder| {
            folder.current(&name)?.query(&query, deadline)
        })
        .await
    }

    pub async fn get(&self, name: &str, get: Get, deadline: Instant) -> Result<Vec<Found>> {
        let name = name.to_owned();
        self.off("Reading records", deadline, move |folder| {
            Ok(folder.current(&name)?.get(&get))
        })
        .await
    }

    pub async fn count(&self, name: &str, deadline: Instant) -> Result<usize> {
        let name = name.to_owned();
        self.off("Counting records", deadline, move |folder| {
            Ok(folder.current(&name)?.len())
        })
        .await
    }

    /// Works where waiting for a disk, or calculating for a while, keeps nobody else from running. A change that is
    /// late goes on: it is all there in the end, or not at all.
    async fn off<T: Send + 'static>(
        &self,
        what: &'static str,
        deadline: Instant,
        work: impl FnOnce(&Folder) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let folder = Arc::clone(&self.0);
        let work = tokio::task::spawn_blocking(move || work(&folder));
        match tokio::time::timeout_at(deadline.into(), work).await {
            Ok(Ok(done)) => done,
            Ok(Err(error)) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(Error::Deadline(what)),
            },
            Err(_) => Err(Error::Deadline(what)),
        }
    }
}

impl Folder {
    fn loaded(&self) -> MutexGuard<'_, HashMap<String, Arc<Loaded>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing that a panic could leave half done is under this lock: the map is changed last.
    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self, name: &str) -> Result<Arc<Loaded>> {
        check_name(name)?;
        if let Some(loaded) = self.loaded().get(name) {
            return Ok(Arc::clone(loaded));
        }
        let one = self.changing();
        self.load(name, &one)
    }

    fn load(&self, name: &str, _changing: &MutexGuard<'_, ()>) -> Result<Arc<Loaded>> {
        if let Some(loaded) = self.loaded().get(name) {
            return Ok(Arc::clone(loaded));
        }
        let Some(loaded) = file::read(&self.path, name, &self.limits)? else {
            return Err(self.missing(name)?);
        };
        let loaded = Arc::new(loaded);
        self.loaded().insert(name.to_owned(), Arc::clone(&loaded));
        Ok(loaded)
    }

    fn missing(&self, name: &str) -> Result<Error> {
        let known = file::list(&self.path)?;
        Ok(Error::NoCollection {
            name: name.to_owned(),
            place: "in the store of this server".to_owned(),
            known: known.into_iter().map(|(name, _)| name).collect(),
        })
    }

    fn create(&self, name: &str, space: Space) -> Result<()> {
        check_name(name)?;
        let one = self.changing();
        match self.load(name, &one) {
            Ok(known) if known.space == space => return Ok(()),
            Ok(known) => {
                return Err(Error::Invalid(format!(
                    "The collection '{name}' is there and measures by {}, not by {space}; take another name, or delete it first",
                    known.space
                )));
            }
            Err(Error::NoCollection { .. }) => {}
            Err(error) => return Err(error),
        }
        if file::list(&self.path)?.len() >= self.limits.collections_max {
            return Err(Error::TooMuch(format!(
                "There are {} collections, and more are not allowed; delete one first",
                self.limits.collections_max
            )));
        }
        std::fs::create_dir_all(&self.path).map_err(Error::file(&self.path, "written"))?;
        self.keep(Loaded::new(name, space))
    }

    fn upsert(&self, name: &str, records: Vec<Record>) -> Result<()> {
        check_name(name)?;
        let one = self.changing();
        let next = self.load(name, &one)?.with(records, &self.limits)?;
        self.keep(next)
    }

    fn remove(&self, name: &str, ids: &[String]) -> Result<()> {
        check_name(name)?;
        let one = self.changing();
        let next = self.load(name, &one)?.without(ids);
        self.keep(next)
    }

    /// Writes a collection, and only then lets anybody see it.
    fn keep(&self, next: Loaded) -> Result<()> {
        let others = file::list(&self.path)?;
        let others = others.iter().filter(|(name, _)| *name != next.name);
        let taken: u64 = others.map(|(_, bytes)| bytes).sum();
        let room = self.limits.bytes_max.saturating_sub(taken);
        file::write(&self.path, &next, room)?;
        self.loaded().insert(next.name.clone(), Arc::new(next));
        Ok(())
    }

    fn delete(&self, name: &str) -> Result<()> {
        check_name(name)?;
        let _one = self.changing();
        let path = file::path(&self.path, name);
        match std::fs::remove_file(&path) {
            Ok(()) => {
                self.loaded().remove(name);
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(self.missing(name)?),
            Err(error) => Err(Error::file(path, "written")(error)),
        }
    }

    fn list(&self) -> Result<Vec<Counted>> {
        let names = file::list(&self.path)?.into_iter().map(|(name, _)| name);
        let tell = |name: String| match file::head(&self.path, &name).transpose()? {
            Ok((space, dimension, count)) => Some(Counted {
                name,
                space: Some(space),
                dimension: (dimension > 0).then_some(dimension),
                count: Ok(count),
            }),
            Err(error) => Some(Counted {
                name,
                space: None,
                dimension: None,
                count: Err(error),
            }),
        };
        Ok(names.filter_map(tell).collect())
    }
}

fn told(name: String, space: Space, dimension: usize) -> Collection {
    Collection {
        name,
        space,
        dimension: (dimension > 0).then_some(dimension),
    }
}
