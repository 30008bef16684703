import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { afterAll, describe, expect, it } from 'vitest';
import { projectFolder } from '../testing/documents.ts';
import { manifest } from '../testing/installed-package.ts';

const REPORT_MAX_MS = 120_000;
const folder = mkdtempSync(join(tmpdir(), 'fleetbed-api-'));

afterAll(() => rmSync(folder, { recursive: true }));

/** The declarations of each exported module, by the last part of the module's name. */
const modules = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === 'string'
    ? []
    : [{ name: path === '.' ? 'testbed' : path.slice(2), types: target.types }],
);

/** Returns the exported declarations of a module as text, in alphabetical order. */
function apiReport(name: string, types: string): string {
  const mainEntryPointFilePath = join(projectFolder, types);
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  };
  const silent = { logLevel: ExtractorLogLevel.None, addToApiReportFile: false };
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder,
      mainEntryPointFilePath,
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions, files: [mainEntryPointFilePath] } },
      apiReport: {
        enabled: true,
        reportFileName: name,
        reportFolder: folder,
        reportTempFolder: folder,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        extractorMessageReporting: { default: silent },
        tsdocMessageReporting: { default: silent },
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, 'package.json'),
  });
  const problems: string[] = [];
  const { succeeded } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === ExtractorLogLevel.Error) problems.push(message.text);
      message.handled = true;
    },
  });
  if (!succeeded) throw new Error(`${name}: ${problems.join('; ')}`);
  const report = readFileSync(join(folder, `${name}.api.md`), 'utf8');
  const [, declarations = ''] = /^```ts\n(.*?)^```$/ms.exec(report) ?? [];
  return declarations.trimStart();
}

describe.each(modules)('the public surface of $name', ({ name, types }) => {
  it(
    'matches the committed report, which `vitest run --update` rewrites, and is documented',
    async () => {
      const report = apiReport(name, types);
      await expect(report).toMatchFileSnapshot(`api/${name}.txt`);
      const bare = [...report.matchAll(/@public \(undocumented\)\n(export .*)/g)];
      expect(bare.map(([, declaration]) => declaration)).toEqual([]);
    },
    REPORT_MAX_MS,
  );
});
