/** Releases: the tags and notes that the artifacts of one name share. */
import type { ReleaseOrder } from '../../fixtures/contract/management/releases.ts';
import { type ArtifactFilter, artifactConditions } from './artifacts.ts';
import { filterBy } from './engine/filter.ts';
import { bounds, type Page } from './engine/page.ts';
import { document, number, numberIn, text } from './engine/row.ts';
import type { Sql, SqlRow } from './engine/sql.ts';

/** A release without its artifacts, which `ArtifactStore.findByName` returns. */
export interface StoredRelease {
  readonly name: string;
  readonly tags: readonly string[];
  readonly notes: string;
  /** Time of the last change of any of its artifacts, in milliseconds since the Unix epoch. */
  readonly modifiedMs: number;
}

export interface ReleaseFilter extends ArtifactFilter {
  /** Matches releases with at least one of these tags. */
  readonly tags?: readonly string[];
}

const orders: Record<ReleaseOrder, string> = {
  'name:asc': 'name',
  'name:desc': 'name DESC',
  'modified:asc': 'modified_ms, name',
  'modified:desc': 'modified_ms DESC, name',
  'artifacts_count:asc': 'artifacts_count, name',
  'artifacts_count:desc': 'artifacts_count DESC, name',
  'tags:asc': 'tags, name',
  'tags:desc': 'tags DESC, name',
};

/** Reads and writes the releases of a tenant. */
export class ReleaseStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  find(name: string): StoredRelease | undefined {
    const row = this.#sql.first(`${releaseQuery} WHERE artifacts.name = ? ${grouped}`, [name]);
    return row && release(row);
  }

  /** Returns a page of the names of releases with at least one artifact that matches the filter. */
  names(filter: ReleaseFilter, page: Page, order: ReleaseOrder): string[] {
    const { where, values } = releaseFilter(filter);
    const query = `SELECT name FROM (${releaseQuery} ${where} ${grouped})
      ORDER BY ${orders[order]} LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map((row) => text(row, 'name'));
  }

  count(filter: ReleaseFilter): number {
    const { where, values } = releaseFilter(filter);
    const query = `SELECT count(*) AS n FROM (${releaseQuery} ${where} ${grouped})`;
    return numberIn(this.#sql, query, values);
  }

  /** Replaces the given fields of an existing release. */
  describe(name: string, change: Partial<Pick<StoredRelease, 'tags' | 'notes'>>): void {
    const tags = change.tags && JSON.stringify(change.tags.toSorted());
    this.#sql.run(
      `INSERT INTO releases VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE
         SET tags = coalesce(?, tags), notes = coalesce(?, notes)`,
      [name, tags ?? '[]', change.notes ?? '', tags ?? null, change.notes ?? null],
    );
  }

  /** Returns all tags in use, sorted; `except` omits the tags of one release. */
  tags({ except = '' }: { readonly except?: string } = {}): string[] {
    const query = `SELECT DISTINCT t.value AS tag FROM releases, json_each(tags) t
      WHERE name <> ? ORDER BY 1`;
    return this.#sql.all(query, [except]).map((row) => text(row, 'tag'));
  }
}

const releaseQuery = `SELECT artifacts.name AS name,
    (SELECT max(a.modified_ms) FROM artifacts a WHERE a.name = artifacts.name) AS modified_ms,
    (SELECT count(*) FROM artifacts a WHERE a.name = artifacts.name) AS artifacts_count,
    coalesce(releases.tags, '[]') AS tags, coalesce(releases.notes, '') AS notes
  FROM artifacts LEFT JOIN releases ON releases.name = artifacts.name`;
const grouped = 'GROUP BY artifacts.name';

function releaseFilter({ tags = [], ...filter }: ReleaseFilter) {
  const marks = tags.map(() => '?').join(', ');
  return filterBy(
    ...artifactConditions(filter),
    tags.length === 0
      ? undefined
      : [`EXISTS (SELECT 1 FROM json_each(releases.tags) t WHERE t.value IN (${marks}))`, ...tags],
  );
}

function release(row: SqlRow): StoredRelease {
  return {
    name: text(row, 'name'),
    tags: document<string[]>(row, 'tags'),
    notes: text(row, 'notes'),
    modifiedMs: number(row, 'modified_ms'),
  };
}
