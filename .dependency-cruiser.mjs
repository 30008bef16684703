/**
 * Which layer may import which, and which packages. A layer is a folder; it imports itself and
 * `fixtures` too; a layer within another has a row of its own. No circles, types included.
 */
const shapes = ['valibot', '@valibot/to-json-schema'];

/** `a/*` is the files right in `a`. */
export const layers = {
  fixtures: {
    packages: [...shapes, 'tar-stream', 'hash-wasm', '@msgpack/msgpack', 'yaml', 'tinyqueue'],
  },
  'fixtures/reference': { packages: ['valibot', 'openapi-sampler'] },
  'fixtures/page': { packages: ['preact'] },

  'server/rules': { packages: ['re2js'] },
  'server/crypto': { packages: ['node-forge', 'valibot'] },
  'server/http': { layers: ['server/rules'], packages: ['ws', 'send', 'valibot'] },
  'server/store/engine': { packages: ['sql.js', 'libsql', 'valibot'] },
  'server/store/*': { layers: ['server/store/engine', 'server/rules'], packages: ['valibot'] },
  'server/store/folder': {
    layers: ['server/store/*', 'server/store/engine'],
    packages: ['libsql'],
  },
  'server/tenants': {
    layers: ['server/rules', 'server/crypto', 'server/store', 'server/*'],
    packages: ['valibot'],
  },
  'server/connect': {
    layers: ['server/http', 'server/store', 'server/tenants', 'server/*'],
    packages: ['ws', 'valibot'],
  },
  'server/pipeline': {
    layers: [
      ...['server/http', 'server/rules', 'server/crypto', 'server/store', 'server/tenants'],
      ...['server/connect', 'server/*'],
    ],
    packages: ['express', 'ws', 'consola', 'valibot'],
  },
  'server/api': {
    layers: [
      ...['server/pipeline', 'server/http', 'server/rules', 'server/store', 'server/tenants'],
      'server/crypto',
    ],
    packages: ['ws', '@fastify/busboy', ...shapes],
  },
  'server/api/device': {
    layers: [
      ...['server/pipeline', 'server/http', 'server/rules', 'server/store', 'server/tenants'],
      ...['server/crypto', 'server/api/*'],
    ],
    packages: ['valibot'],
  },
  'server/listeners': {
    layers: ['server/api', 'server/pipeline', 'server/http', 'server/*'],
    packages: ['express', 'node-forge', 'ws', 'valibot'],
  },
  'server/journal': {
    layers: [
      ...['server/http', 'server/pipeline', 'server/connect', 'server/tenants', 'server/rules'],
      'server/store',
    ],
    packages: ['ws', 'valibot'],
  },
  'server/client-feed': {
    layers: ['server/http', 'server/pipeline', 'server/journal', 'server/tenants', 'server/rules'],
    packages: ['valibot'],
  },
  'server/faults': {
    layers: [
      ...['server/http', 'server/pipeline', 'server/connect', 'server/tenants', 'server/rules'],
      ...['server/crypto', 'server/store'],
    ],
    packages: ['ws', 'yaml', ...shapes],
  },
  'server/variation': { layers: ['server/http', 'server/pipeline'], packages: ['valibot'] },
  'server/explain': {
    layers: [
      ...['server/journal', 'server/http', 'server/pipeline', 'server/tenants', 'server/rules'],
      ...['server/crypto', 'server/store'],
    ],
    packages: ['valibot'],
  },
  'server/explain/doctor': { layers: ['server/crypto'], packages: ['@noble/curves'] },
  'server/world': {
    layers: [
      ...['server/faults', 'server/journal', 'server/pipeline', 'server/tenants', 'server/rules'],
      ...['server/crypto', 'server/store'],
    ],
    packages: ['yaml', ...shapes],
  },
  'server/control': {
    layers: [
      ...['server/client-feed', 'server/explain', 'server/faults', 'server/journal'],
      ...['server/variation', 'server/world', 'server/http'],
      ...['server/pipeline', 'server/tenants', 'server/rules', 'server/crypto'],
      ...['server/store', 'server/console', 'server/listeners', 'server/*'],
    ],
    packages: ['express', 'ws', ...shapes],
  },
  'server/console': {},
  'server/console/page': {
    packages: [
      ...['preact', '@preact/signals', 'wouter-preact', '@tanstack/virtual-core', 'uplot'],
      ...['@xterm/xterm', '@xterm/addon-fit', '@msgpack/msgpack', 'vite'],
    ],
  },
  server: { layers: ['server'], packages: ['express', ...shapes] },

  'simulator/plan': { packages: shapes },
  'simulator/network': { layers: ['simulator/plan'], packages: ['undici', 'ws'] },
  'simulator/result': { layers: ['simulator/plan'], packages: ['hdr-histogram-js', ...shapes] },
  'simulator/identity': {
    layers: ['simulator/network', 'simulator/result'],
    packages: ['valibot'],
  },
  'simulator/api-client': {
    layers: ['simulator/identity', 'simulator/network'],
    packages: ['undici', 'ws', 'valibot'],
  },
  'simulator/behaviours': {
    layers: ['simulator/network', 'simulator/plan'],
    packages: ['valibot'],
  },
  'simulator/metrics': {
    layers: ['simulator/network', 'simulator/result'],
    packages: ['hdr-histogram-js'],
  },
  'simulator/device': {
    layers: [
      ...[
        'simulator/behaviours',
        'simulator/api-client',
        'simulator/identity',
        'simulator/metrics',
      ],
      ...['simulator/network', 'simulator/plan', 'simulator/result'],
    ],
    packages: ['valibot'],
  },
  'simulator/environment': {},
  'simulator/estimate': { layers: ['simulator/result'] },
  'simulator/state': {
    layers: [
      ...['simulator/api-client', 'simulator/device', 'simulator/identity', 'simulator/network'],
      'simulator/plan',
    ],
    packages: ['valibot'],
  },
  'simulator/engine': {
    layers: [
      ...['simulator/behaviours', 'simulator/api-client', 'simulator/device', 'simulator/identity'],
      ...['simulator/metrics', 'simulator/network', 'simulator/plan', 'simulator/result'],
      'simulator/state',
    ],
    packages: ['undici', 'valibot'],
  },
  'simulator/cluster': {
    layers: [
      ...['simulator/behaviours', 'simulator/api-client', 'simulator/device', 'simulator/engine'],
      ...['simulator/metrics', 'simulator/network', 'simulator/plan', 'simulator/result'],
    ],
    packages: ['bullmq', 'ioredis', 'valibot'],
  },
  'simulator/report': {
    layers: ['simulator/device', 'simulator/result'],
    packages: ['fast-xml-parser', 'prom-client'],
  },
  'simulator/report/page': { layers: ['simulator/report/*'], packages: ['preact', 'uplot'] },

  'conformance/signing': { packages: ['node-forge', 'tweetnacl', '@noble/curves'] },
  'conformance/target': { packages: ['undici', 'ws', 'csv-stringify', 'valibot'] },
  'conformance/context': {
    layers: ['conformance/target', 'conformance/signing'],
    packages: ['undici', 'ws', 'valibot'],
  },
  'conformance/suite': {
    layers: ['conformance/context', 'conformance/target'],
    packages: ['valibot'],
  },
  'conformance/model': {
    layers: ['conformance/suite', 'conformance/context', 'conformance/target'],
    packages: ['fast-check'],
  },
  'conformance/cases': {
    layers: [
      ...['conformance/suite', 'conformance/context', 'conformance/target', 'conformance/signing'],
      'conformance/model',
    ],
    packages: ['valibot', 'tweetnacl', 'node-forge', 'ws'],
  },
  'conformance/result': {
    layers: [
      ...['conformance/suite', 'conformance/context', 'conformance/target'],
      'conformance/passive',
    ],
    packages: ['yaml', ...shapes],
  },
  'conformance/passive': {
    layers: ['conformance/suite', 'conformance/target', 'conformance/recordings'],
    packages: ['valibot'],
  },
  'conformance/client-judge': {
    layers: [
      ...['conformance/passive', 'conformance/recordings', 'conformance/target'],
      'conformance/signing',
    ],
    packages: ['valibot'],
  },
  'conformance/client-judge/report': { layers: ['conformance/client-judge/*'], packages: shapes },
  'conformance/client-judge/report/page': {
    layers: ['conformance/client-judge/report/*', 'conformance/client-judge/*'],
    packages: ['preact'],
  },
  'conformance/repro-script': {
    layers: [
      'conformance/result',
      'conformance/suite',
      'conformance/context',
      'conformance/target',
    ],
    packages: ['valibot'],
  },
  'conformance/adapters': {
    layers: [
      ...['conformance/context', 'conformance/target', 'conformance/signing'],
      'conformance/result',
    ],
    packages: ['yaml', 'valibot'],
  },
  'conformance/cleanup': {
    layers: ['conformance/adapters', 'conformance/context', 'conformance/target'],
    packages: ['valibot'],
  },
  'conformance/runner': {
    layers: [
      ...['conformance/suite', 'conformance/context', 'conformance/target', 'conformance/result'],
      ...['conformance/adapters', 'conformance/repro-script', 'conformance/passive'],
    ],
  },
  'conformance/recordings': { packages: ['cli-table3', 'ical-generator'] },
  'conformance/report': {
    layers: [
      'conformance/result',
      'conformance/suite',
      'conformance/context',
      'conformance/target',
    ],
    packages: ['fast-xml-parser'],
  },
  'conformance/report/page': { layers: ['conformance/report/*'], packages: ['preact'] },
  'conformance/self-test': {
    layers: [
      ...['conformance/result', 'conformance/target', 'conformance/passive', 'conformance/*'],
    ],
    packages: ['ws', 'undici', 'valibot', 'typescript'],
  },
  conformance: { layers: ['conformance'] },

  'bin/output': {
    layers: ['server', 'simulator', 'conformance'],
    packages: ['cli-table3', 'consola', 'log-update'],
  },
  'bin/options': {
    layers: ['server', 'simulator', 'bin/output'],
    packages: ['commander', 'yaml'],
  },
  'bin/server-access': {
    layers: ['server', 'bin/options', 'bin/output'],
    packages: ['commander', 'undici'],
  },
  'bin/virtual': {
    layers: ['server', 'simulator', 'bin/options', 'bin/output'],
    packages: ['commander', 'undici'],
  },
  'bin/client-test': {
    layers: ['server', 'conformance', 'bin/output'],
    packages: ['ws'],
  },
  'bin/commands': {
    layers: [
      ...['server', 'simulator', 'conformance'],
      ...['bin/options', 'bin/output', 'bin/server-access', 'bin/virtual', 'bin/client-test'],
    ],
    packages: [
      ...['commander', '@bomb.sh/tab', 'cli-table3', 'log-update', 'undici', 'ws', 'yaml'],
      '@noble/curves',
    ],
  },
  'bin/exports': {
    layers: [
      ...['server', 'simulator', 'conformance'],
      ...['bin/commands', 'bin/client-test', 'bin/options', 'bin/output'],
    ],
    packages: ['valibot', 'vitest'],
  },
  'bin/dev': {
    layers: ['server', 'simulator', 'conformance', 'bin'],
    packages: [
      ...['autocannon', 'fastify', 'express', 'commander', 'cli-table3', 'valibot', 'ws'],
      ...['fast-check', 'rolldown', 'vite', 'dependency-cruiser', 'typescript'],
    ],
  },
  bin: { packages: ['commander'] },
};

/** A command has a file, or a folder of its name with it. */
const command = '^bin/commands/(?:[\\w-]+|([\\w-]+)/\\1)\\.ts$';
/** Every layer may import them. */
const settings = '^server/(tls-)?settings\\.ts$';
const parts = ['fixtures', 'server', 'simulator', 'conformance', 'bin'];
const tests = '\\.test\\.ts$|/testing/';

const below = (layer) => (layer.endsWith('/*') ? `^${layer.slice(0, -1)}[^/]+$` : `^${layer}/`);
const packagePaths = (names) => `^node_modules/(${names.join('|')})(/|$)`;

/**
 * Rules against the imports of a layer that its row does not allow: other layers, and other
 * packages.
 */
function rulesOf([layer, { layers: others = [], packages = [] }]) {
  const within = Object.keys(layers).filter((other) => other.startsWith(`${layer}/`));
  const from = { path: below(layer), pathNot: [tests, ...within.map(below)] };
  const allowed = [layer, 'fixtures', ...others].map(below);
  return [
    { from, to: { path: parts.map(below), pathNot: allowed }, name: `${layer}: other layers` },
    {
      from,
      to: {
        path: '^node_modules/',
        ...(packages.length > 0 && { pathNot: packagePaths(packages) }),
      },
      name: `${layer}: other packages`,
    },
  ].map((rule) => ({ severity: 'error', ...rule }));
}

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...Object.entries(layers).flatMap(rulesOf),
    ...['server', 'simulator', 'conformance'].map((part) => ({
      severity: 'error',
      name: `${part}: tests stay in their part`,
      from: { path: below(part) },
      to: { path: parts.map(below), pathNot: [below(part), below('fixtures')] },
    })),
    {
      severity: 'error',
      // A benchmark starts what tests start, and the soak is a test.
      name: 'only tests, benchmarks and the soak import tests',
      from: { pathNot: `${tests}|^bin/dev/` },
      to: { path: tests },
    },
    {
      severity: 'error',
      name: 'no command imports another',
      from: { path: command },
      to: { path: command },
    },
    {
      severity: 'error',
      name: 'settings import no layer',
      from: { path: settings },
      to: { path: '^server/', pathNot: settings },
    },
    { severity: 'error', name: 'no circle', from: { pathNot: tests }, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
