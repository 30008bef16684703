import { describe, expect, it } from 'vitest';
import { csvProblem, readCsv } from './csv.ts';
import { relationsOf } from './link-header.ts';

describe('readCsv', () => {
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

describe('csvFault', () => {
  it.each(['', 'a,b\r\n1,2\r\n', 'a\n"x, ""y""\nz"', 'a,b\n,'])('finds none in %j', (document) => {
    expect(csvProblem(document)).toBeUndefined();
  });

  it.each([
    ['a\nx "y" z\n', 'no field can be read at character 2: "x \\"y\\" z\\n"'],
    ['a\n"x" y\n', 'no field can be read at character 2: "\\"x\\" y\\n"'],
    ['a\n"x\n', 'no field can be read at character 2: "\\"x\\n"'],
    ['a\rb\n', 'no field can be read at character 0: "a\\rb\\n"'],
  ])('finds one in %j', (document, problem) => {
    expect(csvProblem(document)).toBe(problem);
  });
});

describe('relationsOf', () => {
  it('names the URL of each relation', () => {
    const header = '</logs?page=1>; rel="first", </logs?page=3&sort=asc>; rel=next';
    expect(relationsOf(header)).toEqual({ first: '/logs?page=1', next: '/logs?page=3&sort=asc' });
  });

  it('takes any case, spaces and order of parameters', () => {
    const header = '</a>;REL=First,</b>  ;  title="x" ;  rel="prev"';
    expect(relationsOf(header)).toEqual({ first: '/a', prev: '/b' });
  });

  it('reads texts with commas, several relation types in one link, and the first of two', () => {
    const header =
      '</a?x=1,2>; title="one, two; rel=none"; rel="first prev" , </b>;rel=next;rel=last, </c>; rel=next';
    expect(relationsOf(header)).toEqual({ first: '/a?x=1,2', prev: '/a?x=1,2', next: '/b' });
  });

  it('finds nothing where there is no header', () => {
    expect(relationsOf(undefined)).toEqual({});
  });
});
