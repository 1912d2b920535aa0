const TRAILER = /^([A-Za-z0-9-]+)[ \t]*:/
const BY_GIT = /^(Signed-off-by: |\(cherry picked from commit )/

/**
 * Parses trailers such as `Signed-off-by: Ada <ada@example.com>` at the end of a message, grouped by name in their
 * order. Accepts other lines like git: up to three for each trailer, if git itself wrote one of the trailers.
 */
export function trailersIn(message: string): Map<string, string[]> {
  // The first paragraph is always the title.
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
