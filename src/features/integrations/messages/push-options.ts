/** Options such as `ci.variable` and `merge_request.label` may appear several times. */
const LISTS = ['variable', 'input', 'label', 'unlabel', 'assign', 'unassign']
const MOST = 100
const LONGEST = 10_000

/** Parses `ci.skip` and `merge_request.target=main` to `{ ci: { skip: true }, merge_request: { target: 'main' } }`. */
export function hookPushOptions(options: readonly string[]): object {
  const spaces = new Map<string, Map<string, unknown>>()
  for (const option of options.slice(0, MOST)) {
    const [, space, name, value] = /^([a-z_]+)\.([a-z_]+)(?:=(.*))?$/s.exec(option.slice(0, LONGEST)) ?? []
    if (space === undefined || name === undefined) continue
    const key = space === 'mr' ? 'merge_request' : space
    const known = spaces.get(key) ?? new Map<string, unknown>()
    spaces.set(key, known)
    if (!LISTS.includes(name)) known.set(name, value ?? true)
    else known.set(name, { ...(known.get(name) as object | undefined), [value ?? '']: 1 })
  }
  return Object.fromEntries(Array.from(spaces, ([space, names]) => [space, Object.fromEntries(names)]))
}
