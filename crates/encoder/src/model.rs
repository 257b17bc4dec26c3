//! The model's file: which part of it is what. Its form is described in scripts/encoder-model, which makes it.

use crate::dense::Dense;
use crate::error::Error;
use crate::network::{self, Branch, Network};
use crate::normal::Characters;
use crate::pieces::{Pieces, Special};
use crate::table::{BITS, Grid, Table};

const MAGIC: &[u8] = b"TCENC 1\n";
const GRIDS: usize = 17;
/// Where weights may begin.
const ALIGNMENT: usize = 64;

/// Inputs and outputs of the layers, in the order of the file.
const PROJECTION: (usize, usize) = (512, 768);
const BRANCH_LAYERS: [(usize, usize); 6] = [
    (2 * 256, 256),
    (2 * 256, 256),
    (3 * 256, 256),
    (3 * 256, 256),
    (5 * 256, 256),
    (5 * 256, 256),
];
const LAST_LAYERS: [(usize, usize); 7] = [
    (1280, 512),
    (512, 320),
    (512, 320),
    (320, 320),
    (320, 512),
    (320, 512),
    (512, 512),
];

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) characters: Characters,
    pub(crate) pieces: Pieces,
    pub(crate) table: Table,
    pub(crate) network: Network,
}

impl Model {
    pub(crate) fn read(file: &'static [u8]) -> Result<Self, Error> {
        let mut parts = Parts {
            file_bytes: file.len(),
            rest: file,
        };
        if parts.bytes(MAGIC.len())? != MAGIC {
            return Err(Error::Damaged("it does not begin like one"));
        }
        let [pieces, nodes, units, texts] = parts.counts()?;
        let rows: [usize; BITS.len()] = parts.counts()?;
        let [unknown, begin, end] = parts.counts()?;
        if unknown.max(begin).max(end) >= pieces {
            return Err(Error::Damaged("it lacks the pieces for beginning and end"));
        }
        let special = Special {
            unknown: unknown as u32,
            begin: begin as u32,
            end: end as u32,
        };
        let characters = Characters::new(parts.records(units)?, parts.bytes(texts)?);
        let pieces_tree = Pieces {
            nodes: parts.records(nodes)?,
            scores: parts.records(pieces)?,
            special,
        };
        let grids = parts.floats(2 * GRIDS)?;
        let grids = grids.as_chunks::<2>().0.iter();
        let grids = grids.map(|&[lowest, step]| Grid { lowest, step });
        let (row_grids, row_bases) = (parts.bytes(pieces)?, parts.bytes(pieces)?);
        let take = |count| parts.bytes(count);
        let table = Table::new(grids.collect(), row_grids, row_bases, rows, take)?;
        let network = parts.network()?;
        if !parts.rest.is_empty() {
            return Err(Error::Damaged("it goes on after its end"));
        }
        Ok(Self {
            characters,
            pieces: pieces_tree,
            table,
            network,
        })
    }
}

/// What was not read yet.
struct Parts {
    file_bytes: usize,
    rest: &'static [u8],
}

impl Parts {
    fn bytes(&mut self, count: usize) -> Result<&'static [u8], Error> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(Error::Damaged("it ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn records<const BYTES: usize>(
        &mut self,
        count: usize,
    ) -> Result<&'static [[u8; BYTES]], Error> {
        Ok(self.bytes(count * BYTES)?.as_chunks().0)
    }

    fn counts<const COUNT: usize>(&mut self) -> Result<[usize; COUNT], Error> {
        let mut counts = [0; COUNT];
        for (count, bytes) in counts.iter_mut().zip(self.records(COUNT)?) {
            *count = u32::from_le_bytes(*bytes) as usize;
        }
        Ok(counts)
    }

    fn floats(&mut self, count: usize) -> Result<Vec<f32>, Error> {
        let records = self.records(count)?.iter();
        Ok(records.map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn network(&mut self) -> Result<Network, Error> {
        let sizes = [PROJECTION]
            .into_iter()
            .chain(BRANCH_LAYERS)
            .chain(LAST_LAYERS);
        let mut scales = Vec::new();
        for (_, outputs) in sizes.clone() {
            scales.push(self.floats(outputs)?);
        }
        let projection_bias = self.floats(PROJECTION.1)?;
        let projection_norm = self.norm(PROJECTION.1)?;
        let mut biases = Vec::new();
        for (_, outputs) in BRANCH_LAYERS {
            biases.push(self.floats(outputs)?);
        }
        let norm = self.norm(network::FEATURES)?;
        let pooled_bias = self.floats(network::DIMENSION)?;

        let read_bytes = self.file_bytes - self.rest.len();
        self.bytes(read_bytes.next_multiple_of(ALIGNMENT) - read_bytes)?;
        let mut layers = Vec::new();
        for ((inputs, outputs), scales) in sizes.zip(scales) {
            let layer = Dense::new(self.bytes(inputs * outputs)?, scales, inputs);
            layers.push(layer.ok_or(Error::Damaged("a layer has another size"))?);
        }
        let mut layers = layers.into_iter();
        let mut next = || layers.next().ok_or(Error::Damaged("it lacks a layer"));
        let projection = next()?;
        let mut branches = Vec::new();
        let mut biases = biases.into_iter();
        for (neighbours, before) in network::BRANCHES {
            let mut steps = Vec::new();
            for bias in biases.by_ref().take(2) {
                steps.push((next()?, bias));
            }
            branches.push(Branch {
                neighbours,
                before,
                steps,
            });
        }
        Ok(Network {
            projection,
            projection_bias,
            projection_norm,
            branches,
            norm,
            pooled: next()?,
            pooled_bias,
            first: next()?,
            first_around: next()?,
            second: next()?,
            third: next()?,
            third_around: next()?,
            fourth: next()?,
        })
    }

    fn norm(&mut self, width: usize) -> Result<network::Norm, Error> {
        Ok(network::Norm {
            gain: self.floats(width)?,
            shift: self.floats(width)?,
        })
    }
}
