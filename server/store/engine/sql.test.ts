import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { equal, filterBy, oneOf } from './filter.ts';
import { bounds } from './page.ts';
import { document, number, numberOrNothing, text, textOrNothing } from './row.ts';
import type { Sql } from './sql.ts';
import { engines, TestFolder } from './testing/engines.ts';

const schema = 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)';

describe.each(engines)('%s', (_engine, { openSql }) => {
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
    it('tells how many rows it changed', () => {
      expect([add(1), add(2)]).toEqual([1, 1]);
      expect(sql.run('UPDATE notes SET text = text || ?', ['!'])).toBe(2);
      expect(sql.run('DELETE FROM notes WHERE id > ?', [9])).toBe(0);
    });

    it('takes values as values, whatever they say', () => {
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
    ])('keeps a text as it is: %j', (note) => {
      add(1, note);
      expect(sql.first('SELECT text FROM notes')).toEqual({ text: note });
    });

    it.each([0, -1, 2 ** 53 - 1, 1.5, 1e300])('keeps a number as it is: %d', (value) => {
      expect(sql.first('SELECT ? AS n', [value])).toEqual({ n: value });
    });

    it('gives a whole number back to SQL as one', () => {
      expect(sql.first('SELECT typeof(?) AS whole, typeof(?) AS part', [7, 1.5])).toEqual({
        whole: 'integer',
        part: 'real',
      });
    });

    it('keeps bytes as they are, and none', () => {
      expect(
        sql.first('SELECT hex(?) AS h, ? IS NULL AS n', [Buffer.from([0, 26, 255]), null]),
      ).toEqual({
        h: '001AFF',
        n: 1,
      });
    });

    it.each([99, 100, 101, 250])('gives all of %d rows', (count) => {
      const rows = sql.all(
        'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT n FROM c',
        [count],
      );
      expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: count }, (_, at) => at + 1));
    });

    it('gives no row for none', () => {
      expect(sql.first('SELECT * FROM notes')).toBeUndefined();
      expect(sql.all('SELECT * FROM notes')).toEqual([]);
    });

    it.each([
      ['a table that is not there', 'SELECT * FROM nowhere'],
      ['words that are no SQL', 'FETCH ME'],
    ])('throws with %s', (_, statement) => {
      expect(() => sql.all(statement)).toThrow();
    });

    it('throws when it breaks a rule of the schema, and can be used again', () => {
      add(1, 'same');
      expect(() => add(2, 'same')).toThrow('UNIQUE');
      expect(() => add(1, 'other')).toThrow('UNIQUE');
      expect(add(2, 'other')).toBe(1);
    });

    it('stays usable when more kinds of it were seen than are kept', () => {
      for (let count = 0; count < 600; count += 1) {
        expect(sql.first(`SELECT ${count} AS n`)).toEqual({ n: count });
      }
      expect(sql.first('SELECT 0 AS n')).toEqual({ n: 0 });
    });
  });

  describe('work that is done as one', () => {
    it('stays when it comes to its end, and gives its result', () => {
      expect(sql.atomically(() => add(1) + add(2))).toBe(2);
      expect(ids()).toEqual([1, 2]);
    });

    it('leaves nothing when it throws, and passes the fault on', () => {
      const work = (): void => {
        add(1);
        throw new Error('in the middle');
      };
      expect(() => sql.atomically(work)).toThrow('in the middle');
      expect(ids()).toEqual([]);
    });

    it('is undone when its work would wait', async () => {
      const work = async (): Promise<void> => {
        add(1);
        await Promise.resolve();
        add(2);
      };
      expect(() => sql.atomically(work)).toThrow('cannot wait');
      expect(ids()).toEqual([]);
    });

    it('leaves nothing of its inner work either', () => {
      const work = (): void => {
        sql.atomically(() => add(1));
        add(1);
      };
      expect(() => sql.atomically(work)).toThrow('UNIQUE');
      expect(ids()).toEqual([]);
    });

    it('runs waiting work after its end, and never when it throws', () => {
      const done: string[] = [];
      sql.atomically(() => {
        sql.atomically(() => sql.afterCommit(() => done.push(`committed ${ids()}`)));
        add(1);
        expect(done).toEqual([]);
      });
      const undone = (): never => {
        sql.afterCommit(() => done.push('undone'));
        throw new Error('undone');
      };
      expect(() => sql.atomically(undone)).toThrow('undone');
      sql.afterCommit(() => done.push('at once'));
      expect(done).toEqual(['committed 1', 'at once']);
    });

    it('can be followed by other work', () => {
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

describe('a filter', () => {
  it('is empty when nothing filters', () => {
    expect(filterBy()).toEqual({ where: '', values: [] });
    expect(filterBy(undefined, equal('a', undefined), oneOf('b', []))).toEqual({
      where: '',
      values: [],
    });
  });

  it('joins what is present, and binds every value', () => {
    expect(filterBy(equal('a', 'x'), undefined, oneOf('b', ['y', 'z']), ['c < ?', 3])).toEqual({
      where: 'WHERE (a = ?) AND (b IN (?, ?)) AND (c < ?)',
      values: ['x', 'y', 'z', 3],
    });
  });

  it('takes null and the empty text for values', () => {
    expect(filterBy(equal('a', null), equal('b', '')).values).toEqual([null, '']);
  });
});

describe('a page', () => {
  it.each([
    [1, 20, [20, 0]],
    [2, 20, [20, 20]],
    [7, 1, [1, 6]],
  ])('number %i of %i rows begins where the one before it ended', (page, perPage, expected) => {
    expect(bounds({ page, perPage })).toEqual(expected);
  });
});

describe('a value of a row', () => {
  const row = { t: 'x', n: 7, empty: '', zero: 0, nothing: null, json: '{"a":[1]}' };

  it('is read as what the schema says', () => {
    expect([text(row, 't'), text(row, 'empty')]).toEqual(['x', '']);
    expect([number(row, 'n'), number(row, 'zero')]).toEqual([7, 0]);
    expect(document(row, 'json')).toEqual({ a: [1] });
  });

  it('is nothing where the column is null or absent, and not where it is empty', () => {
    expect(textOrNothing(row, 'nothing')).toBeUndefined();
    expect(numberOrNothing(row, 'absent')).toBeUndefined();
    expect(textOrNothing(row, 'empty')).toBe('');
    expect(numberOrNothing(row, 'zero')).toBe(0);
  });

  it.each([
    ['a number for a text', () => text(row, 'n')],
    ['null for a text', () => text(row, 'nothing')],
    ['an absent column for a text', () => text(row, 'absent')],
    ['a text for a number', () => number(row, 't')],
    ['a number for an optional text', () => textOrNothing(row, 'n')],
    ['a text for an optional number', () => numberOrNothing(row, 't')],
    ['a text for a document', () => document(row, 't')],
  ])('is our own fault where it is another one: %s', (_, read) => {
    expect(read).toThrow();
  });
});
