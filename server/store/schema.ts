/**
 * The version of the tables, to be incremented with every change. A database with another version
 * is refused.
 */
export const SCHEMA_VERSION = 7;

/** The tables. Times are milliseconds since the Unix epoch; documents are JSON text. */
export const schema = `
CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  password_hash TEXT,
  roles TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  login_ms INTEGER
);

CREATE TABLE devices (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  identity TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  external_id TEXT,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  accepted_ms INTEGER,
  check_in_ms INTEGER
);
CREATE INDEX devices_by_status ON devices (status);

CREATE TABLE device_groups (
  device_id TEXT PRIMARY KEY,
  name TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX device_groups_by_name ON device_groups (name, device_id);

CREATE TABLE auth_sets (
  id TEXT PRIMARY KEY,
  device_id TEXT NOT NULL,
  pubkey TEXT NOT NULL,
  status TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  tokens_valid_from_seconds INTEGER NOT NULL DEFAULT 0,
  UNIQUE (device_id, pubkey)
);

CREATE TABLE tenant_settings (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
);

CREATE TABLE artifacts (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT,
  document TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  modified_ms INTEGER NOT NULL
);
CREATE INDEX artifacts_by_name ON artifacts (name);

CREATE TABLE releases (
  name TEXT PRIMARY KEY,
  tags TEXT NOT NULL,
  notes TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE delta_jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  deployment_seq INTEGER NOT NULL,
  from_artifact_id TEXT NOT NULL,
  to_artifact_id TEXT NOT NULL,
  document TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  UNIQUE (deployment_seq, from_artifact_id, to_artifact_id)
);

CREATE TABLE deployments (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  artifact_name TEXT NOT NULL,
  device_digest TEXT NOT NULL,
  device_count INTEGER NOT NULL,
  force_installation INTEGER NOT NULL,
  retries INTEGER NOT NULL,
  max_devices INTEGER,
  phases TEXT,
  group_names TEXT NOT NULL,
  control_map TEXT,
  autogenerate_delta INTEGER NOT NULL,
  configuration TEXT,
  created_ms INTEGER NOT NULL,
  finished_ms INTEGER
);
CREATE INDEX deployments_by_artifact_name ON deployments (artifact_name);

CREATE TABLE device_deployments (
  deployment_seq INTEGER NOT NULL,
  device_id TEXT NOT NULL,
  status TEXT NOT NULL,
  substate TEXT,
  poll_data TEXT,
  artifact_id TEXT,
  attempts INTEGER NOT NULL,
  retries_left INTEGER NOT NULL,
  is_forgotten INTEGER NOT NULL,
  offered_ms INTEGER,
  started_ms INTEGER,
  finished_ms INTEGER,
  log TEXT,
  PRIMARY KEY (deployment_seq, device_id)
) WITHOUT ROWID;
CREATE INDEX device_deployments_by_status ON device_deployments (deployment_seq, status);
CREATE INDEX device_deployments_by_device ON device_deployments (device_id, deployment_seq);

CREATE TABLE configurations (
  device_id TEXT PRIMARY KEY,
  configured TEXT NOT NULL,
  reported TEXT NOT NULL,
  deployment_id TEXT,
  updated_ms INTEGER NOT NULL,
  reported_ms INTEGER
);

CREATE TABLE connections (
  device_id TEXT PRIMARY KEY,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
);

-- All attributes of a device in one scope: they are read and written together. In front of the
-- document, so that the engine reads it without that, stands what lists of devices show.
CREATE TABLE attributes (
  device_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  device_type TEXT,
  artifact_name TEXT,
  document TEXT NOT NULL,
  PRIMARY KEY (device_id, scope)
);

CREATE TABLE attribute_versions (
  device_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  version TEXT NOT NULL,
  PRIMARY KEY (device_id, scope)
) WITHOUT ROWID;

CREATE TABLE alerts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  issued_ms INTEGER NOT NULL,
  document TEXT NOT NULL
);
CREATE INDEX alerts_by_device ON alerts (device_id, issued_ms);

CREATE TABLE alert_subjects (
  device_id TEXT NOT NULL,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  level TEXT NOT NULL,
  issued_ms INTEGER NOT NULL,
  alert_id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (device_id, type, name)
) WITHOUT ROWID;

CREATE TABLE monitor_configurations (
  device_id TEXT PRIMARY KEY,
  document TEXT NOT NULL
);

CREATE TABLE audit_logs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  time_ms INTEGER NOT NULL,
  action TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  actor_type TEXT NOT NULL,
  actor_email TEXT,
  object_id TEXT NOT NULL,
  object_type TEXT NOT NULL,
  object_deployment_name TEXT,
  document TEXT NOT NULL
);
-- A page of a million entries without sorting them all, and what happened to one device.
CREATE INDEX audit_logs_by_time ON audit_logs (time_ms);
CREATE INDEX audit_logs_by_object ON audit_logs (object_id, time_ms);

CREATE TABLE user_tokens (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  last_used_ms INTEGER,
  UNIQUE (user_id, name)
);
CREATE INDEX user_tokens_by_expiry ON user_tokens (expires_ms);

CREATE TABLE roles (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  grants TEXT NOT NULL
);

CREATE TABLE confirmations (
  secret_digest TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  user_id TEXT NOT NULL,
  email TEXT,
  expires_ms INTEGER NOT NULL,
  PRIMARY KEY (kind, user_id)
) WITHOUT ROWID;

-- Identities of devices that are gone, for the audit log; every other entry finds them in devices.
CREATE TABLE former_devices (
  id TEXT PRIMARY KEY,
  identity TEXT NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER devices_removed AFTER DELETE ON devices BEGIN
  INSERT OR REPLACE INTO former_devices VALUES (old.id, old.identity);
END;
`;

/** Schema and version of a tenant's database. */
export const tenantShape = { schema, version: SCHEMA_VERSION };
