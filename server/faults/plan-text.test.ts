import { describe, expect, it } from 'vitest';
import { actions, listReadyActions } from './actions/actions.ts';
import { planSchema, problemText, readPlan } from './plan-text.ts';

function problemsIn(text: string): string[] {
  const read = readPlan(text);
  return 'problems' in read ? read.problems.map(problemText) : [];
}

function rulesIn(text: string) {
  const read = readPlan(text);
  if ('problems' in read) throw new Error(read.problems.map(problemText).join('\n'));
  return read.rules;
}

describe('a fault plan', () => {
  it('is read from YAML, with every default filled in', () => {
    const text = [
      'rules:',
      '  - id: slow-poll',
      '    match: { operation: post-next-deployment-v2, identity: { mac: 00:11 }, nthCall: 2 }',
      '    act: { kind: rate-limited, retryAfter: date }',
    ].join('\n');
    expect(rulesIn(text)).toEqual([
      {
        id: 'slow-poll',
        match: { operation: 'post-next-deployment-v2', identity: { mac: '00:11' }, nthCall: 2 },
        act: { kind: 'rate-limited', retryAfter: 'date', seconds: 30 },
        countPer: 'tenant',
        countBy: 'request',
        unmarked: false,
      },
    ]);
  });

  it('is read from JSON, even with tabs', () => {
    const text = '{\n\t"rules": [\n\t\t{ "id": "a", "act": "reset" }\n\t]\n}';
    expect(rulesIn(text)).toMatchObject([{ act: { kind: 'reset', afterBytes: 'half' } }]);
  });

  it.each(['reset', 'half-close', 'rate-limited', 'half-open', 'revoke-token'])(
    'may abbreviate an act without fields to one word: %s',
    (kind) => {
      expect(rulesIn(`rules: [{ id: a, act: ${kind} }]`)).toMatchObject([{ act: { kind } }]);
    },
  );

  it.each([
    ['empty-401', { status: 401, body: 'empty' }],
    ['gateway-502', { status: 502, body: 'html' }],
    ['object-error-500', { status: 500, body: 'object-error' }],
    ['captive-portal', { status: 200, body: 'html' }],
  ])('may name a predefined plan: %s', (name, act) => {
    expect(rulesIn(`rules: [{ id: a, act: ${name} }]`)).toMatchObject([{ act }]);
  });

  it.each(listReadyActions())('may have the action $name as an object', ({ name, act }) => {
    expect(rulesIn(`rules: [{ id: a, act: ${act} }]`)).toEqual(
      rulesIn(`rules: [{ id: a, act: ${name} }]`),
    );
  });

  it('gets numbers for rules without an ID, the first that are free', () => {
    const text = 'rules: [{ act: reset }, { id: rule-2, act: reset }, { act: reset }]';
    const read = readPlan(text, (id) => id === 'rule-1');
    expect('rules' in read && read.rules.map(({ id }) => id)).toEqual([
      'rule-3',
      'rule-2',
      'rule-4',
    ]);
  });

  it('may contain a script of acts and passes', () => {
    const text = 'rules: [{ id: a, script: [pass, reset, { kind: delay, ms: 5 }, pass] }]';
    expect(rulesIn(text)[0]?.script).toEqual([
      'pass',
      { kind: 'reset', afterBytes: 'half' },
      { kind: 'delay', ms: 5 },
      'pass',
    ]);
  });
});

describe('an invalid fault plan', () => {
  it.each([
    ['nothing', '', 'line 1, column 1: must be an object, not null'],
    ['a string', 'hello', 'line 1, column 1: must be an object, not "hello"'],
    ['no rules', 'rules: []', 'line 1, column 8: rules: must not be empty'],
    [
      'another field',
      'rule: 1\nrules: [{ id: a, act: reset }]',
      'line 1, column 1: rule: is unknown; the field is rules',
    ],
    ['an unclosed list', 'rules: [', 'line 1, column 9:'],
    ['a field twice', 'rules:\n  - id: a\n    id: b\n    act: reset', 'line 3, column 5:'],
    ['two documents', 'rules: []\n---\nrules: []', 'line 2, column 1:'],
    [
      'an ID with a space',
      'rules:\n  - id: a b\n    act: reset',
      'line 2, column 9: rules.0.id: must be 1 to 64',
    ],
    [
      'an ID twice',
      'rules:\n  - { id: a, act: reset }\n  - { id: a, act: reset }',
      'line 3, column 11: rules.1.id: the rule "a" already exists',
    ],
    [
      'no act',
      'rules:\n  - id: a',
      'line 2, column 5: rules.0.act: must have either act or script',
    ],
    [
      'act and script',
      'rules:\n  - id: a\n    act: reset\n    script: [reset]',
      'line 4, column 13: rules.0.script: must have either act or script',
    ],
    [
      'an unknown act',
      'rules:\n  - id: a\n    act: explode',
      'line 3, column 10: rules.0.act: must be an action by its name, or an object with its kind and fields; the nearest names are ',
    ],
    [
      'an unknown kind',
      'rules:\n  - id: a\n    act: { kind: explode }',
      'line 3, column 18: rules.0.act.kind: must be a known name (the nearest ones are respond, delay, stall), not "explode"',
    ],
    [
      'a field that the act lacks',
      'rules:\n  - id: a\n    act: { kind: reset, ms: 1 }',
      'line 3, column 25: rules.0.act.ms: is unknown; the fields are kind, afterBytes',
    ],
    [
      'a missing field',
      'rules:\n  - id: a\n    act: { kind: delay }',
      'line 3, column 10: rules.0.act.ms: is required',
    ],
    [
      'a status out of range',
      'rules:\n  - id: a\n    act: { kind: respond, status: 42 }',
      'line 3, column 35: rules.0.act.status: must be a whole number from 200 to 599',
    ],
    [
      'a header with a line end',
      'rules:\n  - id: a\n    act: { kind: respond, status: 200, headers: { A: "b\\r\\nC: d" } }',
      'line 3, column 54: rules.0.act.headers.A: holds a character',
    ],
    [
      'a header that frames',
      'rules:\n  - id: a\n    act: { kind: respond, status: 200, headers: { Content-Length: "1" } }',
      'rules.0.act.headers.Content-Length: cannot be set, because it frames the body',
    ],
    [
      'an unknown operation',
      'rules:\n  - id: a\n    match: { operation: fly }\n    act: reset',
      'line 3, column 25: rules.0.match.operation: must be the ID of an operation; the nearest: ',
    ],
    [
      'an unknown key type',
      'rules:\n  - id: a\n    match: { keyType: dsa }\n    act: reset',
      'line 3, column 23: rules.0.match.keyType: must be one of rsa',
    ],
    [
      'an unknown operation in a list',
      'rules:\n  - id: a\n    match: { operation: [get-nxt-deployment] }\n    act: reset',
      'rules.0.match.operation: 0: must be the ID of an operation; the nearest: get-next-deployment',
    ],
    [
      'the name of an act that has required fields',
      'rules:\n  - id: a\n    act: delay',
      'rules.0.act: must be an object such as { kind: delay, … }',
    ],
    [
      'a number of times below one',
      'rules:\n  - id: a\n    times: 0\n    act: reset',
      'line 3, column 12: rules.0.times: must be',
    ],
    [
      'a misspelt number of times',
      'rules:\n  - id: a\n    times: { nxt: 3 }\n    act: reset',
      'line 3, column 12: rules.0.times: must be a number such as 3, once, until-cleared',
    ],
    [
      'a misspelt field of a step',
      'rules:\n  - id: a\n    script: [{ kind: respond, sttus: 503 }]',
      'rules.0.script.0.sttus: is unknown; the nearest fields are status, ',
    ],
    [
      'a share above one',
      'rules:\n  - id: a\n    match: { fleet: { share: 2, seed: s } }\n    act: reset',
      'line 3, column 30: rules.0.match.fleet.share: must be a number from 0 to 1',
    ],
    [
      'a share without a seed',
      'rules:\n  - id: a\n    times: { share: 0.5, neverMoreThanInARow: 2 }\n    act: reset',
      'line 3, column 12: rules.0.times',
    ],
    [
      'an injection point that the act does not have',
      'rules:\n  - id: a\n    when: after\n    act: { kind: drip, bytesPerSecond: 1 }',
      'line 3, column 11: rules.0.when: the action drip supports only body',
    ],
    [
      'times beside a script',
      'rules:\n  - id: a\n    times: once\n    script: [reset]',
      'line 3, column 12: rules.0.times: a script fires once for each of its steps',
    ],
    [
      'an invalid step',
      'rules:\n  - id: a\n    script: [reset, fly]',
      'line 3, column 21: rules.0.script.1: must be an action by its name',
    ],
    [
      'aliases without end',
      `a: &a [x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]`,
      'the text cannot be read',
    ],
    ['lists without end', '['.repeat(100_000), 'line 1, column'],
    [
      'too long a string',
      `# ${'x'.repeat(262_144)}`,
      'line 1, column 1: the plan has more than 262144 bytes',
    ],
  ])('is refused with the place: %s', (_, text, sentence) => {
    expect(problemsIn(text)[0]).toContain(sentence);
  });

  it('is refused with several problems at once', () => {
    const text = 'rules:\n  - id: a\n    act: fly\n  - id: b c\n    act: reset';
    expect(problemsIn(text)).toHaveLength(2);
  });

  it('is refused for an ID that the tenant already has', () => {
    const read = readPlan('rules: [{ id: known, act: reset }]', (id) => id === 'known');
    expect(read).toEqual({
      problems: [{ line: 1, column: 15, message: 'rules.0.id: the rule "known" already exists' }],
    });
  });

  it('cannot change a prototype', () => {
    problemsIn(
      '__proto__: { polluted: true }\nrules: [{ id: a, act: reset, match: { __proto__: { x: 1 } } }]',
    );
    expect(Object.prototype).not.toHaveProperty('polluted');
  });
});

describe('the JSON Schema of fault plans', () => {
  it('contains every act with a description', () => {
    const text = JSON.stringify(planSchema());
    for (const { kind, does } of actions) {
      expect(text).toContain(`"const":"${kind}"`);
      expect(text).toContain(JSON.stringify(does));
    }
  });

  it('allows no unknown fields', () => {
    expect(planSchema()).toMatchObject({ additionalProperties: false, required: ['rules'] });
  });
});
