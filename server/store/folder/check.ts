/**
 * Checks a whole data folder before it is opened: each listed tenant must have its folder, each
 * artifact its file, and each database must match its checksums. It only reads, so that a refused
 * folder stays unchanged.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { plainFile } from '../../../fixtures/base/plain-file.ts';
import { contentsIn } from '../artifacts.ts';
import {
  artifactsFolder,
  contentName,
  lockFile,
  serverFile,
  serverShape,
  tenantFile,
  tenantFolderName,
  tenantsFolder,
} from '../data-layout.ts';
import { isUncommitted } from '../engine/database-check.ts';
import { text } from '../engine/row.ts';
import type { Sql } from '../engine/sql.ts';
import { StateError, stateError } from '../engine/state-error.ts';
import { readStateFile } from '../engine/state-file.ts';
import { sizeProblem } from '../files.ts';
import { tenantShape } from '../schema.ts';

/**
 * Requires files where files are expected, before any is opened: opening a named pipe would block
 * forever.
 * @throws StateError that names the path that is not a regular file
 */
export function checkKinds(path: string): void {
  requireFiles(path, (name) => name === lockFile || name.startsWith(serverFile));
  const tenants = join(path, tenantsFolder);
  for (const id of namesIn(tenants).filter((name) => tenantFolderName.test(name))) {
    const folder = join(tenants, id);
    requireFiles(folder, (name) => name.startsWith(tenantFile));
    requireFiles(join(folder, artifactsFolder), (name) => contentName.test(name));
  }
}

function requireFiles(folder: string, isOurs: (name: string) => boolean): void {
  for (const name of namesIn(folder).filter(isOurs)) {
    const path = join(folder, name);
    try {
      plainFile(path);
    } catch (error) {
      throw stateError(path, error);
    }
  }
}

/** Returns the names in a folder; none when it does not exist. */
function namesIn(folder: string): readonly string[] {
  try {
    return existsSync(folder) ? readdirSync(folder) : [];
  } catch (error) {
    throw stateError(folder, error);
  }
}

/**
 * Checks the databases and artifact files of a data folder.
 * @throws StateError that names the missing or changed file
 */
export function checkDataFolder(path: string): void {
  const server = join(path, serverFile);
  const tenants = join(path, tenantsFolder);
  const isBegun = existsSync(tenants);
  if (!isBegun && isUncommitted(server)) return;
  const rows = readStateFile(server, serverShape, (sql) =>
    sql.all('SELECT id, is_complete FROM tenants').map((row) => ({
      id: text(row, 'id'),
      isComplete: row.is_complete === 1,
    })),
  );
  if (!isBegun && rows.some(({ isComplete }) => isComplete)) throw missing(tenants);
  const listedIds = new Set(rows.map(({ id }) => id));
  for (const name of isBegun ? readdirSync(tenants) : []) {
    if (!tenantFolderName.test(name) || listedIds.has(name)) continue;
    const problem = `${join(tenants, name)} is the folder of a tenant that ${server} does not list`;
    throw new StateError('damaged', problem);
  }
  for (const { id, isComplete } of rows) if (isComplete) checkTenant(join(tenants, id));
}

function checkTenant(folder: string): void {
  if (!existsSync(folder)) throw missing(folder);
  readStateFile(join(folder, tenantFile), tenantShape, (sql) =>
    requireContents(sql, join(folder, artifactsFolder)),
  );
}

/** Checks only the sizes of files; the content of a file is verified on its first use. */
function requireContents(sql: Sql, folder: string): void {
  for (const { name, sha256, sizeBytes } of contentsIn(sql)) {
    const path = join(folder, sha256);
    const problem = sizeProblem(path, sizeBytes);
    if (problem === undefined) continue;
    throw new StateError('damaged', `${path}, the file of the artifact ${name}, ${problem}`);
  }
}

function missing(path: string): StateError {
  return new StateError('damaged', `${path} is missing`);
}
