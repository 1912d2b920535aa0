/** A placeholder in a license text, between any of `<>`, `{}` and `[]`. */
const PLACEHOLDER =
  /[<{[](?:(year|yyyy)|(project|description|one line .+ what it does\.)|fullname|name of author|name of copyright owner)[>}\]]/gi

export interface Filling {
  readonly year: string
  readonly project?: string | null | undefined
  readonly fullname?: string | null | undefined
}

/** In one pass, so that a project called `[fullname]` keeps its name. Unknown values keep their placeholder. */
export const fillPlaceholders = (content: string, { year, project, fullname }: Filling): string =>
  content.replace(PLACEHOLDER, (placeholder, isYear?: string, isProject?: string) => {
    if (isYear) return year
    return (isProject ? project : fullname) || placeholder
  })
