/** A file of state: a database of ours in a file, checked when it is opened. */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type FileSql, openFileSql } from './sql-file.ts';
import { StateFault, stateFault } from './state-fault.ts';
import { syncPath } from './sync-path.ts';

/** The tables that a file must have. */
export interface StateShape {
  readonly schema: string;
  readonly version: number;
  /** Statements by the version that they make the next one of; any other version is refused. */
  readonly upgrades?: Readonly<Record<number, string>>;
}

/** How many findings of a check are told. */
const FINDINGS_MAX = 3;

/**
 * Opens a file of state, or makes it with its folder.
 * @throws StateFault
 */
export function openStateFile(path: string, shape: StateShape): FileSql {
  try {
    const folder = dirname(path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    requireFile(path);
    removeCopies(path);
    const sql = openFileSql(path);
    try {
      if (isEmpty(sql)) found(sql, shape, folder);
      else check(sql, path, shape);
      return sql;
    } catch (fault) {
      sql.abandon();
      throw fault;
    }
  } catch (fault) {
    throw stateFault(path, fault);
  }
}

function requireFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StateFault('unreadable', `${path} is a folder where a file must be`);
  }
}

/** Copies go with the process that made them; an ended one may have left some. */
function removeCopies(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(`${basename(path)}.copy-`)) rmSync(join(dirname(path), name));
  }
}

function isEmpty(sql: FileSql): boolean {
  return sql.first('SELECT 1 FROM sqlite_master LIMIT 1') === undefined && versionOf(sql) === 0;
}

/** The version of the tables in a database; 0 when nobody has said. */
export function versionOf(sql: FileSql): number {
  return Number(sql.first('PRAGMA user_version')?.user_version);
}

function found(sql: FileSql, { schema, version }: StateShape, folder: string): void {
  sql.script(`BEGIN; ${schema} PRAGMA user_version = ${version}; COMMIT;`);
  syncPath(folder);
}

function check(sql: FileSql, path: string, { version, upgrades = {} }: StateShape): void {
  const actual = versionOf(sql);
  if (actual !== version && upgrades[actual] === undefined) {
    throw new StateFault(
      'version',
      `${path} has version ${actual} of the tables, and this fleetbed works with version ${version}`,
    );
  }
  const findings = sql
    .all('PRAGMA quick_check(100)')
    .map((row) => String(row.quick_check))
    .filter((finding) => finding !== 'ok');
  if (findings.length > 0) {
    const told = findings.slice(0, FINDINGS_MAX).join('; ').replaceAll(/\s+/g, ' ');
    throw new StateFault('damaged', `${path} is damaged (${told})`);
  }
  for (let from = actual; from < version; from += 1) {
    sql.script(`BEGIN; ${upgrades[from]} PRAGMA user_version = ${from + 1}; COMMIT;`);
  }
}
