import { describe, expect, it } from 'vitest';
import { ConnectBench, errorTextOf, textOf, typesOf } from '../../testing/connect-bench.ts';

const prompt = 'root@fb-1:~# ';
const size = { terminal_height: 24, terminal_width: 100 };

function started(props: Record<string, unknown> = {}) {
  const bench = new ConnectBench();
  const responses = bench.say('shell', 'new', { props: { ...size, user_id: 'u-1', ...props } });
  const type = (text: string, sid = 's-1') =>
    bench.say('shell', 'shell', { sid, body: Buffer.from(text) });
  return { bench, responses, type };
}

describe('a shell', () => {
  it('starts with a message of its type, followed by the prompt', () => {
    const { responses } = started();
    expect(responses).toEqual([
      {
        proto: 1,
        typ: 'new',
        sid: 's-1',
        props: { status: 1 },
        body: Buffer.from('Shell started'),
      },
      { proto: 1, typ: 'shell', sid: 's-1', props: { status: 1 }, body: Buffer.from(prompt) },
    ]);
  });

  it('shows typed text and the output of the command', () => {
    const { type } = started();
    const responses = type('echo hi\r');
    expect(typesOf(responses)).toEqual(['shell']);
    expect(textOf(responses)).toBe(`echo hi\r\nhi\r\n${prompt}`);
  });

  it('ignores a message without a body', () => {
    const { bench } = started();
    expect(bench.say('shell', 'shell')).toEqual([]);
  });

  it('sends long output in several messages, in order', () => {
    const { type } = started();
    type(`echo -n ${'x'.repeat(4000)} > a\r`);
    type('cat a a a > b\r');
    const responses = type('cat b\r');
    expect(responses.map(({ body }) => body?.length)).toEqual([
      4096,
      4096,
      3808 + 7 + prompt.length,
    ]);
    expect(textOf(responses)).toBe(`cat b\r\n${'x'.repeat(12_000)}${prompt}`);
  });

  it.each([
    ['what was asked for', size, '24 100'],
    ['the default when nothing was', { terminal_height: undefined }, '40 80'],
    ['the default when it can be none', { terminal_height: 0 }, '40 80'],
    ['the default when it is no number', { terminal_width: 'wide' }, '40 80'],
    ['the default when it is beyond a screen', { terminal_width: 70_000 }, '40 80'],
  ])('has a screen of %s', (_what, props, shown) => {
    expect(textOf(started(props).type('echo $LINES $COLUMNS\r'))).toContain(`\r\n${shown}\r\n`);
  });

  it('adapts to a new size of its screen', () => {
    const { bench, type } = started();
    const props = { terminal_height: 10, terminal_width: 20 };
    expect(bench.say('shell', 'resize', { props })).toEqual([]);
    expect(textOf(type('echo $LINES $COLUMNS\r'))).toContain('\r\n10 20\r\n');
    expect(errorTextOf(bench.say('shell', 'resize', { props: { terminal_height: 10 } }))).toBe(
      'terminal_height or terminal_width is missing or invalid',
    );
  });

  it('answers a ping with a pong', () => {
    expect(started().bench.say('shell', 'ping')).toEqual([
      { proto: 1, typ: 'pong', sid: 's-1', props: { status: 3 } },
    ]);
  });

  it('notifies its user when it ends by itself', () => {
    const { bench, type } = started();
    const responses = type('exit\r');
    expect(typesOf(responses)).toEqual(['shell', 'stop']);
    expect(responses[1]).toMatchObject({ sid: 's-1', props: { status: 1, user_id: 'u-1' } });
    expect(errorTextOf(type('pwd\r'))).toBe('session not found');
    expect(bench.pass(700)).toEqual([]);
  });

  it('ends at the request of its user', () => {
    const { bench, type } = started();
    const stop = { props: { status: 2 }, body: Buffer.from('user disconnected') };
    expect(bench.say('shell', 'stop', stop)).toMatchObject([{ typ: 'stop', props: { status: 1 } }]);
    expect(errorTextOf(type('pwd\r'))).toBe('session not found');
    expect(errorTextOf(bench.say('shell', 'stop'))).toBe('session not found');
  });

  it('ends with all shells of its user when the message names no session', () => {
    const { bench, type } = started();
    bench.say('shell', 'new', { sid: 's-2', props: { user_id: 'u-2' } });
    const stop = { proto: 1, typ: 'stop', props: { user_id: 'u-1' } };
    expect(bench.device.answer(stop)).toMatchObject([{ typ: 'stop', sid: 's-1' }]);
    expect(errorTextOf(bench.device.answer(stop))).toBe('session not found');
    expect(textOf(type('pwd\r', 's-2'))).toContain('/root');
  });

  it.each(['shell', 'resize', 'ping', 'pong', 'stop'])('must be open before %s', (typ) => {
    const responses = new ConnectBench().say('shell', typ);
    expect(errorTextOf(responses)).toBe('session not found');
    expect(responses[0]).toMatchObject({ proto: 1, typ, sid: 's-1' });
  });

  it.each([
    ['spawn', "unknown message type 'spawn'"],
    ['', "unknown message type ''"],
  ])('refuses messages of the unknown type %j', (typ, message) => {
    expect(errorTextOf(started().bench.say('shell', typ))).toBe(message);
  });
});

describe('the shells of a device', () => {
  it('are limited to one for each session', () => {
    const { bench, type } = started();
    const again = bench.say('shell', 'new', { props: { user_id: 'u-2' } });
    expect(errorTextOf(again)).toBe('failed to start shell: shell is already running');
    expect(again[0]).toMatchObject({ typ: 'new', sid: 's-1' });
    expect(textOf(type('pwd\r'))).toContain('/root');
  });

  it('are limited to one for each user', () => {
    const { bench } = started();
    const second = { sid: 's-2', props: { user_id: 'u-1' } };
    expect(errorTextOf(bench.say('shell', 'new', second))).toBe('user has too many open sessions');
    bench.say('shell', 'stop');
    expect(typesOf(bench.say('shell', 'new', second))).toEqual(['new', 'shell']);
  });

  it('are limited to sixteen', () => {
    const bench = new ConnectBench();
    const spawn = (index: number) =>
      bench.say('shell', 'new', { sid: `s-${index}`, props: { user_id: `u-${index}` } });
    for (let index = 1; index <= 16; index++) expect(spawn(index)).toHaveLength(2);
    expect(errorTextOf(spawn(17))).toBe('too many shells spawned');
    bench.say('shell', 'stop', { sid: 's-5' });
    expect(typesOf(spawn(17))).toEqual(['new', 'shell']);
  });

  it('share the files of the device and nothing else', () => {
    const { bench, type } = started();
    bench.say('shell', 'new', { sid: 's-2', props: { user_id: 'u-2' } });
    type('cd /tmp\recho shared > a\r');
    expect(textOf(type('pwd\rcat /tmp/a\r', 's-2'))).toContain('/root\r\n');
    expect(textOf(type('cat /tmp/a\r', 's-2'))).toContain('\r\nshared\r\n');
  });
});

describe('an idle shell of a device', () => {
  it('pings its user once a minute and continues after a pong', () => {
    const { bench } = started();
    expect(bench.pass(59)).toEqual([]);
    expect(bench.pass(1)).toEqual([
      { proto: 1, typ: 'ping', sid: 's-1', props: { status: 3, timeout: 65 } },
    ]);
    bench.say('shell', 'pong');
    expect(bench.pass(59)).toEqual([]);
    expect(typesOf(bench.pass(1))).toEqual(['ping']);
  });

  it('ends when no pong arrives in time', () => {
    const { bench, type } = started();
    const ends = bench.pass(66);
    expect(typesOf(ends)).toEqual(['ping', 'stop']);
    expect(errorTextOf(ends.slice(1))).toBe('health check failed: no pong came in time');
    expect(errorTextOf(type('pwd\r'))).toBe('session not found');
  });

  it('ends after ten minutes without a key, even if its user answers pings', () => {
    const { bench, type } = started();
    type('pwd\r');
    const ends = [];
    for (let minute = 0; minute < 11; minute++) {
      ends.push(...bench.pass(60).filter(({ typ }) => typ === 'stop'));
      bench.say('shell', 'pong');
    }
    expect(errorTextOf(ends)).toBe('session expired');
  });

  it('stays open while keys are typed', () => {
    const { bench, type } = started();
    for (let minute = 0; minute < 20; minute++) {
      expect(typesOf(bench.pass(60))).toEqual(['ping']);
      bench.say('shell', 'pong');
      type('\r');
    }
    expect(textOf(type('pwd\r'))).toContain('/root');
  });
});
