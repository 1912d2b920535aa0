/** `Signed-off-by: Ada <ada@example.com>` lines at the end of a message, by their name in the order they stand. */
export function trailersIn(message: string): Map<string, string[]> {
  const trailers = new Map<string, string[]>()
  const paragraphs = message.trimEnd().split(/\n[ \t]*\n/)
  // The first one is the title, whatever it looks like.
  const lines = paragraphs.length < 2 ? [] : paragraphs.at(-1)!.split('\n')
  const read = lines.map((line) => /^([A-Za-z0-9-]+)[ \t]*:[ \t]*(\S.*)$/.exec(line))
  if (read.includes(null)) return trailers
  for (const [, name, value] of read as RegExpExecArray[]) {
    trailers.set(name!, [...(trailers.get(name!) ?? []), value!.trimEnd()])
  }
  return trailers
}
