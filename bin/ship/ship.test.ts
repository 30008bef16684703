import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { programFor } from '../program.ts';
import { projectFolder } from '../testing/documents.ts';

const read = (file: string) => readFileSync(join(projectFolder, 'bin/ship', file), 'utf8');
const dockerfile = read('Dockerfile');

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
}

/** Returns the JSON list after an instruction of the Dockerfile. */
function listAfter(instruction: string): readonly string[] {
  const [, list = '[]'] = new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(dockerfile) ?? [];
  return JSON.parse(list);
}

/** The command lines of all containers with the image of Fleetbed. */
function commandLines(): readonly (readonly [string, readonly string[]])[] {
  const compose = parse(read('compose.yaml'), { merge: true });
  const services = Object.entries<{ image: string; command: readonly string[] }>(compose.services);
  const pods = parseAllDocuments(read('kubernetes.yaml'))
    .map((document) => document.toJS())
    .flatMap(({ spec }): readonly Container[] => spec.template?.spec.containers ?? []);
  return [
    ['Dockerfile', listAfter('CMD')],
    ...services
      .filter(([, { image }]) => image === 'fleetbed')
      .map(([name, { command }]) => [`compose.yaml: ${name}`, command] as const),
    ...pods
      .filter(({ image }) => image === 'fleetbed')
      .map(({ name, args }) => [`kubernetes.yaml: ${name}`, args] as const),
  ];
}

describe('the container image', () => {
  it('runs the built command as a user without rights', () => {
    expect(listAfter('ENTRYPOINT').join(' ')).toMatch(/^node \/app\/.*\/dist\/bin\/fleetbed\.js$/);
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
  });

  it.each(commandLines())('is started with options that exist by %s', async (_, words) => {
    const filled = words.map((word) => word.replace('$(JOB_COMPLETION_INDEX)', '0'));
    const program = await programFor(filled);
    const parsed = new Error('parsed');
    // The first hook: secrets come from the environment of the container.
    const run = program.commands.find((each) => each.name() === filled[0]);
    for (const option of run?.options ?? []) option.makeOptionMandatory(false);
    run?.action(() => Promise.reject(parsed));
    await expect(program.parseAsync(filled, { from: 'user' })).rejects.toBe(parsed);
  });
});
