// The page's script, joined from report/page/*.js in the order of report/CMakeLists.txt. Data reaches
// the document as text nodes and numbers only, never as markup.
(() => {
'use strict';
const complaints = []; // what the self-test must not find
addEventListener('error', (event) => complaints.push(`error: ${event.message}`));
addEventListener('unhandledrejection', (event) => complaints.push(`rejection: ${event.reason}`));
document.addEventListener('securitypolicyviolation',
  (event) => complaints.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
const plainError = console.error;
console.error = (...words) => {
  complaints.push(`console: ${words.join(' ')}`);
  plainError.apply(console, words);
};
const figures = JSON.parse(document.getElementById('data').textContent).figures;
