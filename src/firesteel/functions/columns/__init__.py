"""What columnar operators do, as data, and the interfaces of columnar sources and sinks.

A planner makes these objects, `firesteel.runtime.columns` runs them. All columns are Arrow's, with the types that
`firesteel.common.logical_types.arrow` gives.
"""
