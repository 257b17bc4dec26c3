// The word that lets a style of ours stand in the page; the server makes a new one for each answer.

export const nonce = () => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
