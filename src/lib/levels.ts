/** The ladder of roles. A level holds every right of the levels below it. */
export const NoAccess = 0
export const Guest = 10
export const Reporter = 20
export const Developer = 30
export const Master = 40
export const Owner = 50

/** A wished level as columns can be compared with: no level is lower or higher. */
export const levelWithin = (level: number): number => Math.max(NoAccess, Math.min(level, Owner + 1))

/** What a project feature is open to: nobody, members, or whoever sees the project. */
export const FeatureDisabled = 0
export const FeaturePrivate = 10
export const FeatureEnabled = 20
/** Of pages alone: for everybody, whoever sees the project. */
export const FeaturePublic = 30

export const VISIBILITIES = ['private', 'internal', 'public'] as const
export type Visibility = (typeof VISIBILITIES)[number]

/** Whether one is seen by people who do not see the other. */
export const isWider = (one: Visibility, other: Visibility): boolean =>
  VISIBILITIES.indexOf(one) > VISIBILITIES.indexOf(other)
