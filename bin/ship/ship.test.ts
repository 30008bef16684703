import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DCLinter } from 'dclint';
import { validate } from 'dockerfile-utils';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { programFor } from '../program.ts';
import { projectFolder } from '../testing/documents.ts';

const ship = join(projectFolder, 'bin/ship');
const read = (file: string) => readFileSync(join(ship, file), 'utf8');
const dockerfile = read('Dockerfile');

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
}

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * The messages of the linter of compose files about a file; its own types do not resolve in Node.
 */
interface LintResult {
  readonly messages: readonly { readonly type: 'error' | 'warning'; readonly message: string }[];
}

/** Returns the JSON list after an instruction of the Dockerfile. */
function listAfter(instruction: string): readonly string[] {
  const [, list = '[]'] = new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(dockerfile) ?? [];
  return JSON.parse(list);
}

const readObjects = () => parseAllDocuments(read('kubernetes.yaml')).map((each) => each.toJS());

/** The command lines of all containers with the image of Fleetbed. */
function commandLines(): readonly (readonly [string, readonly string[]])[] {
  const { services: named } = parse(read('compose.yaml'), { merge: true });
  const services = Object.entries<{ image: string; command: readonly string[] }>(named);
  const pods = readObjects().flatMap(
    ({ spec }): readonly Container[] => spec.template?.spec.containers ?? [],
  );
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

  it.each(commandLines())('is started with options that exist by %s', async (_, commandArgs) => {
    const filled = commandArgs.map((word) => word.replace('$(JOB_COMPLETION_INDEX)', '0'));
    const program = await programFor(filled);
    const parsed = new Error('parsed');
    // The first hook: secrets come from the environment of the container.
    const run = program.commands.find((each) => each.name() === filled[0]);
    for (const option of run?.options ?? []) option.makeOptionMandatory(false);
    run?.action(() => Promise.reject(parsed));
    await expect(program.parseAsync(filled, { from: 'user' })).rejects.toBe(parsed);
  });
});

/**
 * Returns the problems in Kubernetes objects: values of a wrong type, and fields that do not exist
 * or are missing. The types of Kubernetes decide, because its JSON Schemas accept unknown fields.
 */
function problemsIn(objects: readonly KubernetesObject[]): readonly string[] {
  const checked = join(ship, 'kubernetes-objects.ts');
  const text = objects
    .flatMap(({ apiVersion, kind, ...rest }, index) => [
      `import type { I${kind} as Kind${index} } from 'kubernetes-models/${apiVersion}/${kind}';`,
      `export const object${index}: Kind${index} = ${JSON.stringify({ apiVersion, kind, ...rest })};`,
    ])
    .join('\n');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    module: ts.ModuleKind.Preserve,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const disk = { ...host };
  // The file exists only here.
  host.fileExists = (path) => path === checked || disk.fileExists(path);
  host.getSourceFile = (path, ...more) =>
    path === checked
      ? ts.createSourceFile(path, text, ts.ScriptTarget.ESNext)
      : disk.getSourceFile(path, ...more);
  const program = ts.createProgram([checked], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

describe('the files of the container', () => {
  it('have a Dockerfile without problems, as its linter sees it', () => {
    expect(validate(dockerfile)).toEqual([]);
    expect(validate(dockerfile.replace('WORKDIR', 'WORKDIRS'))).toHaveLength(1);
  });

  it('have a compose file that the schema of Compose accepts', () => {
    const lint = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] });
    const errorsIn = (file: string) => {
      const results: readonly LintResult[] = lint.lintFiles([file], false);
      // Warnings are about the order of keys.
      const errors = results.flatMap(({ messages }) =>
        messages.filter(({ type }) => type === 'error'),
      );
      return errors.map(({ message }) => message);
    };
    expect(errorsIn(join(ship, 'compose.yaml'))).toEqual([]);
    const folder = mkdtempSync(join(tmpdir(), 'fleetbed-compose-'));
    const wrong = join(folder, 'compose.yaml');
    writeFileSync(wrong, read('compose.yaml').replace('read_only', 'read_onli'));
    expect(errorsIn(wrong)).toEqual([
      expect.stringContaining('must NOT have additional properties'),
    ]);
    rmSync(folder, { recursive: true });
  });

  it('have manifests with only fields and values that Kubernetes knows', {
    timeout: 60_000,
  }, () => {
    const objects = readObjects();
    expect(problemsIn(objects)).toEqual([]);
    const [{ spec, ...server }] = objects;
    expect(problemsIn([{ ...server, spec: { ...spec, replicaz: 1 } }])).toEqual([
      expect.stringContaining(`'"replicaz"' does not exist`),
    ]);
  });
});
