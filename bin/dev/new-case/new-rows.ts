/**
 * Creates the rows of a new case: its requirement, the case itself, and a defect that the case has
 * to detect, each in its table.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { listCases } from '../../../conformance/conformance.ts';
import { allDefects } from '../../../conformance/self-test/defects/index.ts';
import { nearestOf } from '../../../fixtures/base/nearest.ts';
import { requirements } from '../../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../../fixtures/contract/requirements/requirement.ts';

const requirementsFolder = 'fixtures/contract/requirements';
const casesFolder = 'conformance/cases';
const defectsFolder = 'conformance/self-test/defects';

/** A case that cannot be added; the message says why and what is accepted. */
export class NewCaseError extends Error {
  override readonly name = 'NewCaseError';
}

/** The case to add, and the requirement that it tests. */
export interface CaseToAdd {
  /** ID of the new case, such as `monitor/alerts-keep-their-order`. */
  readonly id: string;
  /** ID of the requirement that the case tests. */
  readonly requirement: string;
  /**
   * For a new requirement: the ID of the preceding one, from which it copies heading, level and
   * operations.
   */
  readonly neighbour?: string | undefined;
  /** For a new requirement: its sentence. */
  readonly sentence?: string | undefined;
}

/** A file with an additional row. */
export interface ChangedFile {
  /** Path from the folder of the package. */
  readonly path: string;
  readonly text: string;
}

/**
 * Returns the files with the rows of a new case. An existing requirement gets no new row. A defect
 * is added only if none breaks the requirement and the area has a table of defects.
 * @param root the folder of the package
 * @throws NewCaseError
 */
export function newRows(root: string, addition: CaseToAdd): readonly ChangedFile[] {
  const [, area = '', name = ''] =
    /^([a-z0-9-]+)\/([a-z0-9]+(?:-[a-z0-9]+)*)$/.exec(addition.id) ?? [];
  if (name === '') {
    const givenText = addition.id || 'nothing';
    throw new NewCaseError(`${givenText} is not AREA/NAME, such as monitor/alerts-are-kept`);
  }
  if (listCases().some(({ id }) => id === addition.id)) {
    throw new NewCaseError(`the case ${addition.id} already exists`);
  }
  const rule = ruleOf(addition);
  const isNew = addition.sentence !== undefined;
  const isDefended = allDefects.some(({ violates }) => violates.some((id) => id === rule.id));
  return [
    ...(isNew ? [withRequirement(root, rule, addition.neighbour ?? '')] : []),
    withCase(root, area, name, rule),
    ...(isDefended ? [] : withDefect(root, area, name, rule)),
  ];
}

/** Returns the existing or the new requirement of the case. */
function ruleOf({ requirement: id, neighbour = '', sentence }: CaseToAdd): Requirement {
  const knownRequirements: ReadonlyMap<string, Requirement> = new Map(Object.entries(requirements));
  const requirement = knownRequirements.get(id);
  if (sentence === undefined) {
    if (requirement) return requirement;
    throw new NewCaseError(
      `there is no requirement ${id || '(none given)'}; the nearest: ${near(id, knownRequirements)}. ` +
        'To add a new one, name the requirement that precedes it, and its sentence',
    );
  }
  if (requirement)
    throw new NewCaseError(`the requirement ${id} already exists: ${requirement.sentence}`);
  if (!/^[A-Z`].{20,}\.$/.test(sentence)) {
    throw new NewCaseError(`"${sentence}" is not a full sentence that ends with a full stop`);
  }
  const neighbourRule = knownRequirements.get(neighbour);
  if (!neighbourRule) {
    throw new NewCaseError(
      `there is no requirement ${neighbour}; the nearest: ${near(neighbour, knownRequirements)}`,
    );
  }
  const { heading, level, operations } = neighbourRule;
  return { id, heading, level, sentence, operations };
}

function near(id: string, known: ReadonlyMap<string, Requirement>): string {
  return nearestOf(id, [...known.keys()]).join(', ');
}

/** Adds the row after its neighbour; it names its level only if the neighbour does. */
function withRequirement(root: string, rule: Requirement, neighbour: string): ChangedFile {
  const row = new RegExp(String.raw`\n( +)'${neighbour.replaceAll('.', String.raw`\.`)}':\s*(\{?)`);
  for (const file of readdirSync(join(root, requirementsFolder))) {
    const path = `${requirementsFolder}/${file}`;
    const text = readFileSync(join(root, path), 'utf8');
    const [, indent = '', brace] = row.exec(text) ?? [];
    if (indent === '') continue;
    const textFromRow = text.slice(text.search(row) + 1);
    // The new row is inserted before the next row, or at the end of the group.
    const end = textFromRow.search(new RegExp(`\\n(${indent}'|${indent.slice(2)}\\})`)) + 1;
    const says = JSON.stringify(rule.sentence);
    const line = `${indent}'${rule.id}': ${brace === '{' ? `{ ${rule.level}: ${says} }` : says},\n`;
    return { path, text: insertedAt(text, text.length - textFromRow.length + end, line) };
  }
  throw new NewCaseError(`no file in ${requirementsFolder} has a row ${neighbour}`);
}

/** Adds the case at the end of the first scenario in the file that is named after its area. */
function withCase(root: string, area: string, name: string, rule: Requirement): ChangedFile {
  const files = readdirSync(join(root, casesFolder), { encoding: 'utf8', recursive: true });
  const file = files.find((each) => basename(each) === `${area}.ts`) ?? `${area}/${area}.ts`;
  const path = `${casesFolder}/${file}`;
  const text = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
  const list = text.indexOf('\n  cases: [\n');
  if (list === -1) {
    throw new NewCaseError(
      `${path} has no list of cases; for a new area, begin such a file and list it in all-cases.ts`,
    );
  }
  const act = rule.level === 'may' ? 'observe' : 'run';
  const row = `    {
      id: '${name}',
      title: ${JSON.stringify(rule.sentence)},
      requirements: ['${rule.id}'],
      ${act}: () => Promise.reject(new NotObservable('the case is not written yet')),
    },
`;
  const textWithRow = insertedAt(text, text.indexOf('\n  ],\n', list) + 1, row);
  return { path, text: withImport(textWithRow, 'NotObservable', '../../target/expectations.ts') };
}

/** Adds the defect at the end of its area's table; its alteration is empty at first. */
function withDefect(
  root: string,
  area: string,
  name: string,
  rule: Requirement,
): readonly ChangedFile[] {
  const path = `${defectsFolder}/${area}.ts`;
  const text = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
  const list = text.lastIndexOf(': readonly Defect[] = [\n');
  if (list === -1) return [];
  const operations = rule.operations.map((operation) => `'${operation}'`).join(', ');
  const row = `  {
    id: '${area}-${name}',
    title: ${JSON.stringify(`Against the rule: ${rule.sentence}`)},
    violates: ['${rule.id}'],
    operations: ${operations === '' ? "'all'" : `[${operations}]`},
    alter: () => ({}),
  },
`;
  return [{ path, text: insertedAt(text, text.indexOf('\n];\n', list) + 1, row) }];
}

function insertedAt(text: string, index: number, added: string): string {
  return `${text.slice(0, index)}${added}${text.slice(index)}`;
}

function withImport(text: string, name: string, from: string): string {
  if (new RegExp(`\\b${name}\\b[^;]* from '`).test(text)) return text;
  const imported = new RegExp(`,?\\s*\\} from '${from.replaceAll('.', '\\.')}';`);
  if (imported.test(text)) return text.replace(imported, `, ${name} } from '${from}';`);
  return text.replace(/^import /m, `import { ${name} } from '${from}';\nimport `);
}
