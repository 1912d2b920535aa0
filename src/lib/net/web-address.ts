/** Whether a text is a whole address on the web, which people may be led to: nothing that runs, nothing half written. */
export const isWebAddress = (text: string): boolean => /^https?:\/\/[^\s/\\][^\s]*$/i.test(text) && URL.canParse(text)
