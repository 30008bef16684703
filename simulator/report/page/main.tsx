/** Entry point of the page's script: renders the facts that are embedded in the page. */
import '../../../fixtures/page/theme.css';
import '../../../fixtures/page/kit.css';
import '../../../fixtures/page/kit-lists.css';
import '../../../fixtures/page/report.css';
import 'uplot/dist/uPlot.min.css';
import './page.css';
import { render } from 'preact';
import { embeddedFacts } from '../../../fixtures/page/report.tsx';
import type { FleetFacts } from '../page-facts.ts';
import { App } from './app.tsx';

const root = document.getElementById('app');
if (root) render(<App facts={embeddedFacts<FleetFacts>()} />, root);
