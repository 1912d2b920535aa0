/** Like `Promise.all`, but it fails only when nothing is running any more: then a clean-up meets no writer. */
export async function allEnded<T>(running: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running)
  return Promise.all(running)
}
