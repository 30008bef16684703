import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { capabilityNames, describedSteps, listCases } from '../../../conformance/conformance.ts';
import { allDefects } from '../../../conformance/self-test/defects/index.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { configure as cleanup } from './cleanup.ts';
import { configure as client } from './client/client.ts';
import { configure as compare } from './compare.ts';
import { configure as conform } from './conform.ts';
import { configure as hooks } from './hooks.ts';
import { configure as rerun } from './rerun.ts';
import { configure as selfTest } from './self-test.ts';

const guide = readFileSync(new URL('../../../conformance/guide.md', import.meta.url), 'utf8');
/** Commands other than `conform` have tests of their own; a command in quotes is not ours. */
const own = guide.replace(/fleetbed (?:serve|contract) [^`\n]*/g, '').replace(/ '[^'\n]*'/g, '');

function matchesOf(pattern: RegExp): readonly string[] {
  return [...new Set([...own.matchAll(pattern)].map(([, word = '']) => word))];
}

describe('the guide of the conformance suite', () => {
  it('names only options that exist', () => {
    const options = [conform, cleanup, client, compare, hooks, rerun, selfTest].flatMap(
      (configure) => {
        const command = new Command();
        configure(command);
        return command.options.flatMap(({ long, hidden }) => (hidden ? [] : [long]));
      },
    );
    const named = matchesOf(/(--[a-z][a-z-]+)/g);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((option) => !options.includes(option))).toEqual([]);
  });

  it('names only existing cases, capabilities, steps, defects and exit codes', () => {
    const ids = listCases().map(({ id }) => id);
    const areas = [...new Set(ids.map((id) => id.split('/')[0]))];
    const named = matchesOf(new RegExp(`(?<![\\w/])((?:${areas.join('|')})/[a-z-]*)`, 'g'));
    expect(named).toContain('errors/error-says-why');
    expect(named.filter((each) => !ids.some((id) => id.startsWith(each)))).toEqual([]);
    expect(capabilityNames.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
    const steps = describedSteps().map(([step]): string => step);
    const namedSteps = matchesOf(
      /`((?:advance|fail|limit|powerless|make|suspend|remove)-[a-z]+)`/g,
    );
    expect(namedSteps.filter((step) => !steps.includes(step))).toEqual([]);
    const [, prefixes = ''] = /conform self-test ((?:[a-z][a-z-]* )+)/.exec(guide) ?? [];
    for (const prefix of prefixes.trim().split(' ')) {
      expect(allDefects.some(({ id }) => id.startsWith(prefix))).toBe(true);
    }
    const codes = matchesOf(/^\| (\d+) +\|/gm).map(Number);
    expect(codes.filter((code) => !Object.values(exitCodes).some((each) => each === code))).toEqual(
      [],
    );
  });
});
