/** Whether a text is a complete web URL that is safe to link: no scripts, no partial URLs. */
export const isWebAddress = (text: string): boolean => /^https?:\/\/[^\s/\\][^\s]*$/i.test(text) && URL.canParse(text)
