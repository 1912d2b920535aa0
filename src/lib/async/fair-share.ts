/** How large each may be so that all together keep to the budget: only the largest give way. */
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
