import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { equal, filterBy, oneOf } from './filter.ts';
import { bounds } from './page.ts';
import { document, number, optionalNumber, optionalText, text } from './row.ts';
import type { Sql } from './sql.ts';
import { engines, TestFolder } from './testing/engines.ts';

const schema = 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)';

describe.each(engines)('the SQL engine %s', (_engine, { openSql }) => {
  let folder: TestFolder;
  let sql: Sql;

  beforeEach(async () => {
    folder = new TestFolder();
    sql = await openSql(schema, folder);
  });

  afterEach(() => {
    sql.close();
    folder.remove();
  });

  function add(id: number, note: string | null = `note ${id}`): number {
    return sql.run('INSERT INTO notes VALUES (?, ?)', [id, note]);
  }

  function ids(): unknown[] {
    return sql.all('SELECT id FROM notes ORDER BY id').map(({ id }) => id);
  }

  describe('a statement', () => {
    it('returns how many rows it changed', () => {
      expect([add(1), add(2)]).toEqual([1, 1]);
      expect(sql.run('UPDATE notes SET text = text || ?', ['!'])).toBe(2);
      expect(sql.run('DELETE FROM notes WHERE id > ?', [9])).toBe(0);
    });

    it('binds values as data, whatever their text', () => {
      const nasty = "'); DROP TABLE notes; --";
      add(1, nasty);
      expect(sql.first('SELECT id FROM notes WHERE text = ?', [nasty])).toEqual({ id: 1 });
      expect(sql.first('SELECT id FROM notes WHERE text = ?', ["' OR 1=1 --"])).toBeUndefined();
    });

    it.each([
      '',
      '\0',
      'a\0b',
      '\u00e9\u4e2d\u{1f600}',
      'line\nbreak',
      ' x ',
      '\x1a0',
      '\x1a\x1a\0\x1a',
      '0\0',
    ])('keeps a string unchanged: %j', (note) => {
      add(1, note);
      expect(sql.first('SELECT text FROM notes')).toEqual({ text: note });
    });

    it.each([0, -1, 2 ** 53 - 1, 1.5, 1e300])('keeps a number unchanged: %d', (value) => {
      expect(sql.first('SELECT ? AS n', [value])).toEqual({ n: value });
    });

    it('binds a whole number to SQL as an integer', () => {
      expect(sql.first('SELECT typeof(?) AS whole, typeof(?) AS part', [7, 1.5])).toEqual({
        whole: 'integer',
        part: 'real',
      });
    });

    it('keeps bytes and null unchanged', () => {
      expect(
        sql.first('SELECT hex(?) AS h, ? IS NULL AS n', [Buffer.from([0, 26, 255]), null]),
      ).toEqual({
        h: '001AFF',
        n: 1,
      });
    });

    it.each([99, 100, 101, 250])('returns all of %d rows', (count) => {
      const rows = sql.all(
        'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT n FROM c',
        [count],
      );
      expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: count }, (_, at) => at + 1));
    });

    it('returns no row for an empty result', () => {
      expect(sql.first('SELECT * FROM notes')).toBeUndefined();
      expect(sql.all('SELECT * FROM notes')).toEqual([]);
    });

    it.each([
      ['a table that is not there', 'SELECT * FROM nowhere'],
      ['words that are not SQL', 'FETCH ME'],
    ])('throws an error for %s', (_, statement) => {
      expect(() => sql.all(statement)).toThrow();
    });

    it('throws on a constraint violation and stays usable', () => {
      add(1, 'same');
      expect(() => add(2, 'same')).toThrow('UNIQUE');
      expect(() => add(1, 'other')).toThrow('UNIQUE');
      expect(add(2, 'other')).toBe(1);
    });

    it('stays usable after more distinct statements than the cache can contain', () => {
      for (let count = 0; count < 600; count += 1) {
        expect(sql.first(`SELECT ${count} AS n`)).toEqual({ n: count });
      }
      expect(sql.first('SELECT 0 AS n')).toEqual({ n: 0 });
    });
  });

  describe('a transaction', () => {
    it('commits at its end and returns its result', () => {
      expect(sql.atomically(() => add(1) + add(2))).toBe(2);
      expect(ids()).toEqual([1, 2]);
    });

    it('leaves no changes when it throws, and rethrows the error', () => {
      const work = (): void => {
        add(1);
        throw new Error('in the middle');
      };
      expect(() => sql.atomically(work)).toThrow('in the middle');
      expect(ids()).toEqual([]);
    });

    it('is rolled back when its work is asynchronous', async () => {
      const work = async (): Promise<void> => {
        add(1);
        await Promise.resolve();
        add(2);
      };
      expect(() => sql.atomically(work)).toThrow('cannot wait');
      expect(ids()).toEqual([]);
    });

    it('undoes its nested transactions too', () => {
      const work = (): void => {
        sql.atomically(() => add(1));
        add(1);
      };
      expect(() => sql.atomically(work)).toThrow('UNIQUE');
      expect(ids()).toEqual([]);
    });

    it('runs deferred work after its commit, and never after an error', () => {
      const events: string[] = [];
      sql.atomically(() => {
        sql.atomically(() => sql.afterCommit(() => events.push(`committed ${ids()}`)));
        add(1);
        expect(events).toEqual([]);
      });
      const failAfterWriting = (): never => {
        sql.afterCommit(() => events.push('rolled back'));
        throw new Error('rolled back');
      };
      expect(() => sql.atomically(failAfterWriting)).toThrow('rolled back');
      sql.afterCommit(() => events.push('at once'));
      expect(events).toEqual(['committed 1', 'at once']);
    });

    it('can be followed by another transaction', () => {
      expect(() =>
        sql.atomically(() => {
          throw new Error('first');
        }),
      ).toThrow();
      sql.atomically(() => add(7));
      expect(ids()).toEqual([7]);
    });
  });
});

describe('an SQL filter', () => {
  it('is empty without conditions', () => {
    expect(filterBy()).toEqual({ where: '', values: [] });
    expect(filterBy(undefined, equal('a', undefined), oneOf('b', []))).toEqual({
      where: '',
      values: [],
    });
  });

  it('joins the present conditions and binds every value', () => {
    expect(filterBy(equal('a', 'x'), undefined, oneOf('b', ['y', 'z']), ['c < ?', 3])).toEqual({
      where: 'WHERE (a = ?) AND (b IN (?, ?)) AND (c < ?)',
      values: ['x', 'y', 'z', 3],
    });
  });

  it('treats null and empty text as values', () => {
    expect(filterBy(equal('a', null), equal('b', '')).values).toEqual([null, '']);
  });
});

describe('the bounds of a page', () => {
  it.each([
    [1, 20, [20, 0]],
    [2, 20, [20, 20]],
    [7, 1, [1, 6]],
  ])('follow the page before for number %i of %i rows', (page, perPage, expected) => {
    expect(bounds({ page, perPage })).toEqual(expected);
  });
});

describe('a column value of a row', () => {
  const row = { t: 'x', n: 7, empty: '', zero: 0, nothing: null, json: '{"a":[1]}' };

  it('is read with the type of the schema', () => {
    expect([text(row, 't'), text(row, 'empty')]).toEqual(['x', '']);
    expect([number(row, 'n'), number(row, 'zero')]).toEqual([7, 0]);
    expect(document(row, 'json')).toEqual({ a: [1] });
  });

  it('is undefined for a null or absent column, but not for an empty one', () => {
    expect(optionalText(row, 'nothing')).toBeUndefined();
    expect(optionalNumber(row, 'absent')).toBeUndefined();
    expect(optionalText(row, 'empty')).toBe('');
    expect(optionalNumber(row, 'zero')).toBe(0);
  });

  it.each([
    ['a number for a string', () => text(row, 'n')],
    ['null for a string', () => text(row, 'nothing')],
    ['an absent column for a string', () => text(row, 'absent')],
    ['a string for a number', () => number(row, 't')],
    ['a number for an optional text', () => optionalText(row, 'n')],
    ['a string for an optional number', () => optionalNumber(row, 't')],
    ['a string for a document', () => document(row, 't')],
  ])('causes an error for an unexpected type: %s', (_, read) => {
    expect(read).toThrow();
  });
});
