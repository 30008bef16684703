/** The JSON Schema of the configuration file, made from the options of all commands. */
import type { Command, Option } from 'commander';
import { commandPath, commonOptions, commonSection, settable } from './config-file.ts';
import { kindOf } from './option-rows.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Returns the schema for a program whose commands all have their options. */
export function configSchema(commands: readonly Command[]): Schema {
  const sections = commands.map((command) => [commandPath(command), sectionOf(settable(command))]);
  const common = commonOptions.flatMap((name) => {
    const options = commands.flatMap(({ options }) => options);
    return options.find(({ long }) => long === `--${name}`) ?? [];
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'fleetbed.config.yaml, fleetbed.config.json',
    type: 'object',
    additionalProperties: false,
    properties: {
      $schema: { type: 'string' },
      [commonSection]: sectionOf(common),
      ...Object.fromEntries(sections),
    },
  };
}

function sectionOf(options: readonly Option[]): Schema {
  const properties = options.map((option) => [
    (option.long ?? '').slice(2),
    { description: option.description, ...schemaOf(option) },
  ]);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}

const text: Schema = { type: ['string', 'number'] };
const texts: Schema = { anyOf: [text, { type: 'array', items: text }] };
const members: Schema = { type: 'object', additionalProperties: text };

function schemaOf(option: Option): Schema {
  if (!option.required && !option.optional) return { type: 'boolean' };
  const value = schemaOfText(option);
  return option.optional ? { anyOf: [{ type: 'boolean' }, value] } : value;
}

function schemaOfText(option: Option): Schema {
  if (option.argChoices) return { enum: option.argChoices };
  const cli = kindOf(option);
  switch (cli?.kind) {
    case 'count':
      return { type: 'integer', minimum: cli.min, maximum: cli.max };
    case 'port':
      return { type: 'integer', minimum: 0, maximum: 65_535 };
    case 'share':
      return { type: 'number', minimum: 0, maximum: 1 };
    case 'names': {
      // A string can have several of the names, separated by commas.
      const items = { enum: cli.values };
      return { anyOf: [items, { type: 'array', items }, { type: 'string' }] };
    }
    case 'report-files':
      return {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(cli.formats.map((format) => [format, { type: 'string' }])),
      };
    case undefined:
    case 'read':
    case 'texts':
      return { anyOf: [...(texts.anyOf as readonly Schema[]), members] };
    default:
      return text;
  }
}
