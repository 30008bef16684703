export default {
  forbidden: [
    {
      name: 'no-circle',
      severity: 'error',
      from: { pathNot: '\\.test\\.ts$|/testing/' },
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
