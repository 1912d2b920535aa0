/** Access levels. A level has every right of the levels below it. */
export const NoAccess = 0
export const Guest = 10
export const Reporter = 20
export const Developer = 30
export const Master = 40
export const Owner = 50

/** Clamps a requested level to the valid range, so that it can be compared with columns. */
export const levelWithin = (level: number): number => Math.max(NoAccess, Math.min(level, Owner + 1))

/** Who can use a project feature: nobody, members, or everybody who sees the project. */
export const FeatureDisabled = 0
export const FeaturePrivate = 10
export const FeatureEnabled = 20
/** Only for Pages: everybody, including people who cannot see the project. */
export const FeaturePublic = 30

export const VISIBILITIES = ['private', 'internal', 'public'] as const
export type Visibility = (typeof VISIBILITIES)[number]

/** Whether the first is visible to more people than the second. */
export const isWider = (one: Visibility, other: Visibility): boolean =>
  VISIBILITIES.indexOf(one) > VISIBILITIES.indexOf(other)
