/** The maximum size of each item, so that all together fit the budget: only the largest items are cut. */
export function fairShare(sizes: readonly number[], budget: number): number {
  let left = budget
  let count = sizes.length
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size * count > left) return Math.floor(left / count)
    left -= size
    count--
  }
  return Infinity
}
