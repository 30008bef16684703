import { allDefects } from '../../conformance/self-test/defects/index.ts';
import { describeShortSelfTest } from '../testing/short-self-test.ts';

// Two files, so that two workers share the work.
describeShortSelfTest(allDefects.filter((_, index) => index % 2 === 0));
