"""Schemas by their ids, from a registry with the interface of Confluent's (`/schemas/ids`, `/subjects`)."""
