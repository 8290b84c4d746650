"""Functions of Python in SQL: scalar ones per row and of pandas, on Firesteel and on PyFlink."""
