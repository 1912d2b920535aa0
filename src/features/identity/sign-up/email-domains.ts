import { matchesPart, segmentOf } from '../../../lib/text/globs.ts'

const withoutRoot = (domain: string) => domain.toLowerCase().replace(/\.$/, '')

/** Whether an address belongs to one of these domains; `*.example.com` matches everything below that domain. */
export function isOfDomain(email: string, domains: readonly string[]): boolean {
  const own = withoutRoot(email.slice(email.lastIndexOf('@') + 1))
  return domains.some((domain) => {
    const segment = segmentOf(withoutRoot(domain))
    return segment.kind !== 'any' && matchesPart(segment, own, () => undefined)
  })
}
