/** The tables. Times are milliseconds since the Unix epoch; documents are JSON text. */
export const schema = `
CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  created_ms INTEGER NOT NULL
);

CREATE TABLE devices (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  identity TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  external_id TEXT,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
);
CREATE INDEX devices_by_status ON devices (status);

CREATE TABLE auth_sets (
  id TEXT PRIMARY KEY,
  device_id TEXT NOT NULL,
  pubkey TEXT NOT NULL,
  status TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  UNIQUE (device_id, pubkey)
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

CREATE TABLE deployments (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  artifact_name TEXT NOT NULL,
  device_digest TEXT NOT NULL,
  device_count INTEGER NOT NULL,
  force_installation INTEGER NOT NULL,
  control_map TEXT,
  configuration TEXT,
  created_ms INTEGER NOT NULL,
  finished_ms INTEGER
);

CREATE TABLE deployment_devices (
  deployment_seq INTEGER NOT NULL,
  device_id TEXT NOT NULL,
  status TEXT NOT NULL,
  substate TEXT,
  request TEXT,
  artifact_id TEXT,
  offered_ms INTEGER,
  started_ms INTEGER,
  finished_ms INTEGER,
  log TEXT,
  PRIMARY KEY (deployment_seq, device_id)
) WITHOUT ROWID;
CREATE INDEX deployment_devices_by_status ON deployment_devices (deployment_seq, status);
CREATE INDEX deployment_devices_by_device ON deployment_devices (device_id, deployment_seq);

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
  status TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
);

CREATE TABLE attributes (
  device_id TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  description TEXT,
  updated_ms INTEGER NOT NULL,
  PRIMARY KEY (device_id, name)
) WITHOUT ROWID;

CREATE TABLE alerts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  issued_ms INTEGER NOT NULL,
  document TEXT NOT NULL
);
CREATE INDEX alerts_by_device ON alerts (device_id, issued_ms);

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
`;
