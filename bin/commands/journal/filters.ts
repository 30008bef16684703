/** The filters of the journal as options, shared by the commands that read it. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as values from '../../options/option-values.ts';
import { deviceOption } from '../../options/shared-options.ts';

export const filterNames = [
  'kind',
  'operation',
  'method',
  'device',
  'user',
  'status',
  'deployment',
  'requestId',
  'text',
  'since',
  'until',
  'after',
  'tenant',
] as const;

/** The options for the control listener and the journal filters. */
export interface JournalOptions
  extends Readonly<Partial<Record<(typeof filterNames)[number], string>>> {
  readonly controlUrl: string;
  readonly controlToken: string;
}

/** Adds the filter options; an entry must match every option that is present. */
export function addFilterOptions(command: Command): Command {
  return command
    .optionsGroup('Filters (all must match):')
    .addOption(
      new Option('--kind <kind>', 'kind of entry').choices(['exchange', 'frame', 'unparsable']),
    )
    .option('--operation <id>', 'operation ID, such as put-deployment-status', values.nonEmptyText)
    .option('--method <method>', 'HTTP method, such as GET', values.nonEmptyText)
    .addOption(deviceOption())
    .option('--user <user>', 'user ID or email address', values.nonEmptyText)
    .option(
      '--status <status>',
      'status, such as 404 or 4xx; 0 for no response',
      values.nonEmptyText,
    )
    .option('--deployment <id>', 'deployment ID', values.nonEmptyText)
    .option('--request-id <id>', 'request ID', values.nonEmptyText)
    .option(
      '--text <text>',
      'part of the path, or of the message type of a frame',
      values.nonEmptyText,
    )
    .option(
      '--since <time>',
      "only entries from this time on, by the server's clock, such as 2027-08-25T08:00:00Z",
      time,
    )
    .option('--until <time>', "only entries up to this time, by the server's clock", time)
    .option('--after <sequence>', 'only entries after this sequence number', sequence)
    .optionsGroup('Options:');
}

/** Returns the query string for the options and for further parameters of the command. */
export function queryOf(
  options: JournalOptions,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams(more);
  for (const name of filterNames) {
    const value = options[name];
    if (value !== undefined) query.set(name, value);
  }
  return query.toString();
}

function time(text: string): string {
  return new Date(values.parseTime(text)).toISOString();
}

function sequence(text: string): string {
  if (/^\d{1,15}$/.test(text)) return text;
  throw new InvalidArgumentError('Accepted: the sequence number of an entry, a whole number.');
}
