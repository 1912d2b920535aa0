/** The unified diff of two texts, for texts that no repository compares. */

type Step = readonly [sign: ' ' | '-' | '+', line: string]

/** Per text. Further lines are not compared. */
const MOST_LINES = 10_000

const linesIn = (text: string) => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/, MOST_LINES))

/** Beyond this the whole middle is shown as replaced: a table of all pairs would be too large. */
const MOST_PAIRS = 500_000

/** The common lines, from the longest common subsequence. */
function steps(before: readonly string[], after: readonly string[]): Step[] {
  const [rows, columns] = [before.length, after.length]
  if (rows * columns > MOST_PAIRS)
    return [...before.map((line): Step => ['-', line]), ...after.map((line): Step => ['+', line])]
  const width = columns + 1
  const lengths = new Uint32Array((rows + 1) * width)
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      lengths[row * width + column] =
        before[row] === after[column]
          ? lengths[(row + 1) * width + column + 1]! + 1
          : Math.max(lengths[(row + 1) * width + column]!, lengths[row * width + column + 1]!)
  const found: Step[] = []
  let [row, column] = [0, 0]
  while (row < rows || column < columns) {
    if (row < rows && column < columns && before[row] === after[column]) {
      found.push([' ', before[row]!])
      row++
      column++
    } else if (
      row < rows &&
      (column === columns || lengths[(row + 1) * width + column]! >= lengths[row * width + column + 1]!)
    )
      found.push(['-', before[row++]!])
    else found.push(['+', after[column++]!])
  }
  return found
}

function allSteps(one: string, other: string): Step[] {
  const [before, after] = [linesIn(one), linesIn(other)]
  let start = 0
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start++
  let end = 0
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const same = (line: string): Step => [' ', line]
  return [
    ...before.slice(0, start).map(same),
    ...steps(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ]
}

/** Unchanged lines around a change. */
const AROUND = 3

/** Empty if nothing differs. */
export function unifiedDiff(one: string, other: string): string {
  const all = allSteps(one, other)
  const isNear = new Uint8Array(all.length)
  for (const [n, [sign]] of all.entries()) if (sign !== ' ') isNear.fill(1, Math.max(0, n - AROUND), n + AROUND + 1)
  const parts: string[] = []
  let [old, now] = [1, 1]
  for (const [n, [sign, line]] of all.entries()) {
    if (isNear[n]) {
      if (!isNear[n - 1]) parts.push(`@@ -${old} +${now} @@`)
      parts.push(sign + line)
    }
    if (sign !== '+') old++
    if (sign !== '-') now++
  }
  return parts.map((part) => `${part}\n`).join('')
}
