// Phones, which show the list, the conversation or one panel at a time. The width is also in styles/narrow.css.

export const phone = window.matchMedia("(max-width: 700px)");
