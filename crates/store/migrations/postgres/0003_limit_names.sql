-- A tool that is removed and made again under its name has another id: its limit is for the name, too.
ALTER TABLE limits ADD COLUMN target_name TEXT;
