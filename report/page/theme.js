// Dark or light: the system's wish until a reader chooses; the choice holds for the visit.
const theme = document.getElementById('theme');
const remembered = (value) => {
  try {
    if (value) sessionStorage.setItem('sonde-theme', value);
    return sessionStorage.getItem('sonde-theme');
  } catch (refused) {
    return null; // storage may be off: the choice then holds for the page
  }
};
const set_theme = (value) => {
  document.documentElement.dataset.theme = value;
  theme.textContent = value === 'dark' ? 'Light' : 'Dark';
  theme.setAttribute('aria-label', `switch to ${value === 'dark' ? 'light' : 'dark'} colours`);
};
set_theme(remembered() || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
theme.hidden = false;
theme.addEventListener('click', () => {
  set_theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  remembered(document.documentElement.dataset.theme);
});

// On paper all is open but the points, which would be hundreds of sheets; the CSVs have them.
let closed = [];
addEventListener('beforeprint', () => {
  closed = [...document.querySelectorAll('details:not([open], .points)')];
  for (const one of closed) one.open = true;
});
addEventListener('afterprint', () => { for (const one of closed) one.open = false; });
