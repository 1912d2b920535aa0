/** Secrets in logs become as many x, so that offsets stay what the runner counts. */

const X = 0x78

/** Changes `log` itself. */
export function maskIn(log: Buffer, secrets: readonly Buffer[]): void {
  for (const secret of secrets) {
    for (let at = log.indexOf(secret); at >= 0; at = log.indexOf(secret, at + secret.length))
      log.fill(X, at, at + secret.length)
  }
}

/** As bytes, longest first: one that holds another goes before it. */
export const secretsFrom = (masks: readonly string[]): Buffer[] =>
  masks
    .filter((mask) => mask !== '')
    .map((mask) => Buffer.from(mask))
    .toSorted((a, b) => b.length - a.length)

/** How much of what came before may be the beginning of one. */
export const reachOf = (secrets: readonly Buffer[]): number => Math.max(0, (secrets[0]?.length ?? 0) - 1)
