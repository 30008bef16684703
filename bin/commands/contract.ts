/** `fleetbed contract`: the APIs as documents for people and for other tools. */
import { type Command, Option } from 'commander';
import { asyncApiOf } from '../../fixtures/reference/asyncapi.ts';
import { contractDataOf } from '../../fixtures/reference/contract-data.ts';
import { httpFileOf } from '../../fixtures/reference/http-file.ts';
import { markdownOf } from '../../fixtures/reference/markdown.ts';
import {
  type ApiName,
  apiNames,
  openApiOf,
  type ReferenceOptions,
} from '../../fixtures/reference/openapi.ts';
import type { OpenApiDocument } from '../../fixtures/reference/openapi-document.ts';
import { postmanOf } from '../../fixtures/reference/postman.ts';
import { controlDocuments } from '../../server/control/control-documents.ts';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp } from '../options/exit-code-help.ts';
import { headerPrefixOption } from '../options/shared-options.ts';
import { urlOption } from '../options/url-option.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { requireWritable, writeWhole } from '../output/files.ts';

const formats = ['openapi', 'asyncapi', 'json', 'markdown', 'http', 'postman'] as const;
type Format = (typeof formats)[number];

interface ContractOptions {
  readonly format: Format;
  readonly api?: ApiName;
  readonly url?: string;
  readonly headerPrefix: string;
  readonly out?: string;
}

const codes = exitCodeHelp({ pass: 'done', setUp: 'the file cannot be written' });

const help = `
openapi is OpenAPI 3.1 and asyncapi is AsyncAPI 3, both as JSON; json has also the requirements, open
points, enumerations and limits of the contract; http is for editors and httpYac; postman is a collection 2.1.
${codes}`;

/** Adds the options and the action of `fleetbed contract`. */
export function configure(command: Command): void {
  command
    .addOption(
      new Option('--format <format>', 'format of the document').choices(formats).default('openapi'),
    )
    .addOption(new Option('--api <name>', 'only this API (default: all three)').choices(apiNames))
    .addOption(urlOption('base URL of the described server (default: that of fleetbed serve)'))
    .addOption(headerPrefixOption())
    .option('--out <file>', 'write to this file (default: standard output)')
    .addHelpText('after', help)
    .action(async (options: ContractOptions) => {
      if (options.format === 'asyncapi' && options.api !== undefined && options.api !== 'device') {
        command.error(
          "error: option '--format asyncapi' describes only the device API; leave out --api",
        );
      }
      process.exitCode = await writeContract(options);
    });
  addExamples(
    command,
    'fleetbed contract --out openapi.json',
    'fleetbed contract --format asyncapi',
    'fleetbed contract --format markdown --api device --out device-api.md',
    'fleetbed contract --format postman --url https://staging.example --out postman.json',
  );
}

const writers: Readonly<
  Record<Exclude<Format, 'asyncapi'>, (document: OpenApiDocument) => string>
> = {
  openapi: jsonOf,
  json: (document) => jsonOf(contractDataOf(document)),
  markdown: markdownOf,
  http: httpFileOf,
  postman: (document) => jsonOf(postmanOf(document)),
};

async function writeContract(options: ContractOptions): Promise<ExitCode> {
  const { format, api, url, headerPrefix, out } = options;
  if (out !== undefined) await requireWritable('--out', out);
  const reference: ReferenceOptions = {
    headerPrefix,
    documents: controlDocuments,
    ...(api !== undefined && { apis: [api] }),
    ...(url !== undefined && { url }),
    ...(url !== undefined && api === 'control' && { controlUrl: url }),
  };
  const text =
    format === 'asyncapi' ? jsonOf(asyncApiOf(url)) : writers[format](openApiOf(reference));
  if (out === undefined) process.stdout.write(text);
  else await writeWhole(out, text);
  return exitCodes.pass;
}

function jsonOf(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
