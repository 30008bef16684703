import { describe, expect, it } from 'vitest';
import { csvProblem, readCsv } from './csv.ts';
import { relationsOf } from './link-header.ts';

describe('the CSV reader of the suite', () => {
  it.each([
    ['', []],
    [
      'a,b\r\n1,2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['a\n"x, ""y""\nz"\n', [['a'], ['x, "y"\nz']]],
    [
      'a,b\n,\n',
      [
        ['a', 'b'],
        ['', ''],
      ],
    ],
    ['a\n""\n', [['a'], ['']]],
  ])('parses the document %j into records', (document, records) => {
    expect(readCsv(document)).toEqual(records);
  });
});

describe('the CSV check of the suite', () => {
  it.each(['', 'a,b\r\n1,2\r\n', 'a\n"x, ""y""\nz"', 'a,b\n,'])('accepts %j', (document) => {
    expect(csvProblem(document)).toBeUndefined();
  });

  it.each([
    ['a\nx "y" z\n', 'no field can be read at character 2: "x \\"y\\" z\\n"'],
    ['a\n"x" y\n', 'no field can be read at character 2: "\\"x\\" y\\n"'],
    ['a\n"x\n', 'no field can be read at character 2: "\\"x\\n"'],
    ['a\rb\n', 'no field can be read at character 0: "a\\rb\\n"'],
  ])('finds a problem in the document %j', (document, problem) => {
    expect(csvProblem(document)).toBe(problem);
  });
});

describe('the reader of the header Link', () => {
  it('returns the URL of each relation type', () => {
    const header = '</logs?page=1>; rel="first", </logs?page=3&sort=asc>; rel=next';
    expect(relationsOf(header)).toEqual({ first: '/logs?page=1', next: '/logs?page=3&sort=asc' });
  });

  it('accepts any case, spacing and order of parameters', () => {
    const header = '</a>;REL=First,</b>  ;  title="x" ;  rel="prev"';
    expect(relationsOf(header)).toEqual({ first: '/a', prev: '/b' });
  });

  it('reads commas, several types in one link, and the first of two links', () => {
    const header =
      '</a?x=1,2>; title="one, two; rel=none"; rel="first prev" , </b>;rel=next;rel=last, </c>; rel=next';
    expect(relationsOf(header)).toEqual({ first: '/a?x=1,2', prev: '/a?x=1,2', next: '/b' });
  });

  it('returns no relation without a header', () => {
    expect(relationsOf(undefined)).toEqual({});
  });
});
