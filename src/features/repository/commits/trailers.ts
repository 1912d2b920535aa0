const TRAILER = /^([A-Za-z0-9-]+)[ \t]*:/
const BY_GIT = /^(Signed-off-by: |\(cherry picked from commit )/

/**
 * `Signed-off-by: Ada <ada@example.com>` lines at the end of a message, by their name in the order they stand. Other
 * lines among them are borne as git bears them: up to three for each, where one is of those that git itself writes.
 */
export function trailersIn(message: string): Map<string, string[]> {
  // The first paragraph is the title, whatever it looks like.
  const [, ...paragraphs] = message.trimEnd().split(/\n\s*\n/)
  const unfolded = (paragraphs.at(-1) ?? '').replace(/\r?\n[ \t]+/g, ' ')
  const lines = unfolded.split(/\r?\n/).filter((line) => !line.startsWith('#'))
  const counted = lines.filter((line) => TRAILER.test(line) || BY_GIT.test(line)).length
  const others = lines.length - counted
  const trailers = new Map<string, string[]>()
  if (others > (lines.some((line) => BY_GIT.test(line)) ? counted * 3 : 0)) return trailers
  for (const line of lines) {
    const [beginning, name] = TRAILER.exec(line) ?? []
    if (name === undefined) continue
    const value = line.slice(beginning!.length).trim()
    const values = trailers.get(name)
    if (values) values.push(value)
    else trailers.set(name, [value])
  }
  return trailers
}
