import { allDefects } from '../../conformance/self-test/defects/index.ts';
import { describeShortSelfTest } from '../testing/short-self-test.ts';

describeShortSelfTest(allDefects.filter((_, index) => index % 2 === 1));
