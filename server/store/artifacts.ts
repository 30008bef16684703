/**
 * Stores artifacts. Their bytes are in `files.ts`; further data of a release are in `releases.ts`.
 * Spec: Artifact
 */
import type { ArtifactOrder } from '../../fixtures/contract/management/artifacts.ts';
import type { Artifact } from '../../fixtures/contract/resources.ts';
import type { Candidate } from '../rules/next-deployment.ts';
import type { TextSearch } from '../rules/text-search.ts';
import { equal, filterBy, type SqlCondition } from './engine/filter.ts';
import { bounds, type Page } from './engine/page.ts';
import { document, number, numberIn, optionalText, text } from './engine/row.ts';
import type { Sql, SqlRow, SqlValue } from './engine/sql.ts';
import { ReadCache } from './engine/table-changes.ts';

/** An artifact, with the digest of its content. */
export interface StoredArtifact {
  readonly artifact: Artifact & {
    readonly artifact_provides: Record<string, string>;
    readonly artifact_depends: Record<string, string[]>;
    readonly size: number;
  };
  readonly sha256: string;
  readonly modifiedMs: number;
}

/** The file of an artifact. */
export interface ArtifactContent {
  readonly name: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Returns an artifact in the format that the rule `decideNext` needs. */
export function candidate({ artifact }: StoredArtifact): Candidate {
  return {
    id: artifact.id,
    name: artifact.name,
    depends: artifact.artifact_depends,
    sizeBytes: artifact.size,
  };
}

export interface ArtifactFilter {
  /** The exact name of the release. */
  readonly release?: string | undefined;
  /** Matches artifacts whose name matches at least one of these searches. */
  readonly name?: readonly TextSearch[] | undefined;
  readonly description?: TextSearch | undefined;
  readonly deviceType?: TextSearch | undefined;
  /** The exact type of one of the artifact's updates. */
  readonly updateType?: string | undefined;
}

const orders: Record<ArtifactOrder, string> = {
  'name:asc': 'name, modified_ms, id',
  'name:desc': 'name DESC, modified_ms DESC, id',
  'modified:asc': 'modified_ms, id',
  'modified:desc': 'modified_ms DESC, id',
};

/**
 * Number of releases whose artifacts are cached: every device that receives a deployment reads one.
 */
const RELEASES_CACHED_MAX = 100;
/** Maximum number of artifacts of one name that are read; later ones do not count. */
const RELEASE_MAX = 1000;

/** Reads and writes the artifacts of a tenant. */
export class ArtifactStore {
  readonly #sql: Sql;
  readonly #releases: ReadCache<readonly StoredArtifact[]>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#releases = new ReadCache(sql.changes, ['artifacts'], RELEASES_CACHED_MAX);
  }

  save({ artifact, sha256, modifiedMs }: StoredArtifact): void {
    this.#sql.run('INSERT INTO artifacts VALUES (?, ?, ?, ?, ?, ?, ?)', [
      artifact.id,
      artifact.name,
      artifact.description ?? null,
      JSON.stringify(artifact),
      sha256,
      artifact.size,
      modifiedMs,
    ]);
  }

  find(id: string): StoredArtifact | undefined {
    const row = this.#sql.first('SELECT * FROM artifacts WHERE id = ?', [id]);
    return row && storedArtifact(row);
  }

  /** Returns the artifacts of one name, which form a release; at most `RELEASE_MAX`. */
  findByName(name: string): readonly StoredArtifact[] {
    const query = 'SELECT * FROM artifacts WHERE name = ? ORDER BY modified_ms, id LIMIT ?';
    const readArtifacts = () => this.#sql.all(query, [name, RELEASE_MAX]).map(storedArtifact);
    return this.#releases.get(name, readArtifacts);
  }

  /** Returns the IDs of the artifacts of one name; at most `RELEASE_MAX`. */
  listIdsOfName(name: string): string[] {
    const query = 'SELECT id FROM artifacts WHERE name = ? ORDER BY modified_ms, id LIMIT ?';
    return this.#sql.all(query, [name, RELEASE_MAX]).map((row) => text(row, 'id'));
  }

  /** Returns IDs of artifacts; newest first by default. */
  listIds(filter: ArtifactFilter, page: Page, order: ArtifactOrder = 'modified:desc'): string[] {
    const { where, values } = filterBy(...artifactConditions(filter));
    const query = `SELECT id FROM artifacts ${where} ORDER BY ${orders[order]} LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map((row) => text(row, 'id'));
  }

  count(filter: ArtifactFilter): number {
    const { where, values } = filterBy(...artifactConditions(filter));
    return numberIn(this.#sql, `SELECT count(*) AS n FROM artifacts ${where}`, values);
  }

  /** Returns the total bytes of all files; a file that several artifacts share counts once. */
  usedBytes(): number {
    return numberIn(
      this.#sql,
      'SELECT coalesce(sum(size_bytes), 0) AS n FROM (SELECT DISTINCT sha256, size_bytes FROM artifacts)',
    );
  }

  /** Returns the distinct types of all updates, sorted; at most `max`. */
  updateTypes(max: number): string[] {
    const rows = this.#sql.all(
      `SELECT DISTINCT ${updateType} AS type FROM artifacts, json_each(document, '$.updates') u
       WHERE ${updateType} IS NOT NULL ORDER BY 1 LIMIT ?`,
      [max],
    );
    return rows.map((row) => text(row, 'type'));
  }

  /** Replaces the description of an artifact. */
  describe(id: string, description: string, modifiedMs: number): void {
    this.#sql.run(
      `UPDATE artifacts SET description = ?, modified_ms = ?,
         document = json_set(document, '$.modified', ?) WHERE id = ?`,
      [description, modifiedMs, new Date(modifiedMs).toISOString(), id],
    );
  }

  /**
   * Removes the artifact, and its release if it was the last artifact of it.
   * @returns `contentInUse`, true when another artifact has the same content
   */
  remove(id: string, sha256: string): { contentInUse: boolean } {
    this.#sql.run('DELETE FROM artifacts WHERE id = ?', [id]);
    this.#sql.run('DELETE FROM releases WHERE name NOT IN (SELECT name FROM artifacts)');
    const otherArtifact = this.#sql.first('SELECT 1 FROM artifacts WHERE sha256 = ? LIMIT 1', [
      sha256,
    ]);
    return { contentInUse: otherArtifact !== undefined };
  }
}

/** Returns every content with the name of one artifact that has it. */
export function contentsIn(sql: Pick<Sql, 'all'>): ArtifactContent[] {
  const query = 'SELECT min(name) AS name, sha256, size_bytes FROM artifacts GROUP BY sha256';
  return sql.all(query).map((row) => ({
    name: text(row, 'name'),
    sha256: text(row, 'sha256'),
    sizeBytes: number(row, 'size_bytes'),
  }));
}

const updateType = "json_extract(u.value, '$.type_info.type')";

/** Returns the SQL conditions of a filter on the table `artifacts`. */
export function artifactConditions(filter: ArtifactFilter): readonly (SqlCondition | undefined)[] {
  const { release, name = [], description, deviceType, updateType: type } = filter;
  return [
    equal('artifacts.name', release),
    fitsAny('artifacts.name', name),
    description && fitsAny('artifacts.description', [description]),
    deviceType && entryCondition('$.device_types_compatible', fitsAny('u.value', [deviceType])),
    type === undefined ? undefined : entryCondition('$.updates', [`${updateType} = ?`, type]),
  ];
}

/**
 * Returns a condition that holds for an artifact with an entry `u`, in this list of its document,
 * that meets `condition`.
 */
function entryCondition(
  list: string,
  condition: SqlCondition | undefined,
): SqlCondition | undefined {
  if (!condition) return undefined;
  const [sql, ...values] = condition;
  return [`EXISTS (SELECT 1 FROM json_each(document, '${list}') u WHERE ${sql})`, ...values];
}

/** Reads an artifact from a row of its table. */
function storedArtifact(row: SqlRow): StoredArtifact {
  const description = optionalText(row, 'description');
  return {
    artifact: {
      ...document<StoredArtifact['artifact']>(row, 'document'),
      ...(description !== undefined && { description }),
    },
    sha256: text(row, 'sha256'),
    modifiedMs: number(row, 'modified_ms'),
  };
}

/** Returns a condition that the column matches one of the searches; undefined without searches. */
function fitsAny(column: string, searches: readonly TextSearch[]): SqlCondition | undefined {
  if (searches.length === 0) return undefined;
  const conditions = searches.map((search) => fits(column, search));
  const values = conditions.flatMap(([, ...bound]): SqlValue[] => bound);
  return [conditions.map(([sql]) => sql).join(' OR '), ...values];
}

function fits(column: string, { how, text }: TextSearch): SqlCondition {
  if (how === 'exact') return [`${column} = ?`, text];
  if (how === 'part') return [`instr(lower(${column}), lower(?)) > 0`, text];
  // SQLite counts characters differently from JavaScript, so it computes both the length and the
  // substring.
  return [`substr(${column}, 1, length(?)) = ?`, text, text];
}
