/** Replaces secrets in logs by the same number of x, so that the offsets of the runner stay valid. */

const X = 0x78

/** Modifies `log` in place. */
export function maskIn(log: Buffer, secrets: readonly Buffer[]): void {
  for (const secret of secrets) {
    for (let at = log.indexOf(secret); at >= 0; at = log.indexOf(secret, at + secret.length))
      log.fill(X, at, at + secret.length)
  }
}

/** As bytes, longest first: a secret that contains another one is replaced first. */
export const secretsFrom = (masks: readonly string[]): Buffer[] =>
  masks
    .filter((mask) => mask !== '')
    .map((mask) => Buffer.from(mask))
    .toSorted((a, b) => b.length - a.length)

/** How many of the previous bytes may be the beginning of a secret. */
export const reachOf = (secrets: readonly Buffer[]): number => Math.max(0, (secrets[0]?.length ?? 0) - 1)
